import { setImmediate as nextTurn } from 'node:timers/promises'
import { extractedSource } from '../../../src/store-kit/index/block-source.js'
import { createGrowingIndex } from '../../../src/store-kit/index/growing-index.js'
import type { IndexPart } from '../../../src/store-kit/index/part.js'
import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import type { SegmentInfo } from '../../../src/store-kit/index/segment-source.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { TextRow } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import type { Snapshot } from '../log/reader.js'
import { rowToEvent } from '../schema/rows.js'
import { type ChunkCache, createChunkCache } from './chunk-cache.js'
import { createHabits, type Habits } from './probe-history.js'
import {
  countFresh,
  countLate,
  eventsAt,
  type LateRow,
  moreFresh,
  moreLate,
  readLateRow,
  readRefreshed,
  readSegmentInfo,
  type Refreshed,
  refreshStatement,
  visibleStatement,
} from './refresh-statements.js'

/** What the index knows of the events in one snapshot. */
export interface Coverage {
  readonly version: number
  readonly segments: readonly SegmentInfo[]
  /** In memory; what they have stays as it is. */
  readonly recent: readonly IndexPart[]
  /** All events up to this time are in the parts, but for live ones that are open. */
  readonly to: Microseconds
}

type Moment = Pick<Snapshot, 'ask' | 'checkTime'>

/** The index of a log's events: segments in the database, and in memory what is in none of them yet. */
export interface LogIndex {
  readonly cache: ChunkCache
  readonly habits: Habits
  /** What `refresh` asks of a snapshot. */
  statement(): string
  /**
   * Takes in what is new in the snapshot, of which `rows` may be its statement's. `outdated` where others have
   * seen newer ones, and what this one would need is no longer in memory.
   */
  refresh(moment: Moment, rows?: readonly TextRow[]): Promise<Coverage | 'outdated'>
}

const BLOCK = 2048
// Rows of one answer.
const MOST_ROWS = 1000
// Rows that are taken in between two looks at the time.
const STEP = 64
const TURN_MS = 5
// So many segments' worth of events is kept in memory; where more are in none, they are looked at one by one.
const MOST_UNSEALED = 4

/** `names` are those of a log whose snapshots all come from one server, or from such as agree in time. */
export function createLogIndex(
  names: Names,
  { segmentSize }: Pick<SealingTuning, 'segmentSize'>,
): LogIndex {
  const most = MOST_UNSEALED * segmentSize
  const slice = Math.min(MOST_ROWS, most)
  const recent = createGrowingIndex(BLOCK, extractedSource)
  let stage = 0
  let version = -1
  let segments: readonly SegmentInfo[] = []
  let freshCount = 0
  let lateCount = 0
  /** Those that were taken in and would be met again: their transactions, by their ids. */
  let taken = new Map<string, bigint>()
  /** Of earlier transactions all were taken in. */
  let takenBefore = 0n

  const setState = (next: Refreshed, visible: readonly SegmentInfo[]): void => {
    stage += 1
    version = next.version
    segments = visible
    const size = recent.size
    recent.dropUntil(next.sealedTo)
    freshCount = Math.max(0, freshCount - (size - recent.size))
    recent.dropLate()
    lateCount = 0
    taken = new Map()
    takenBefore = 0n
  }

  const inTurns = async <Row>(
    rows: readonly Row[],
    take: (row: Row) => void,
    { checkTime }: Moment,
  ): Promise<void> => {
    let end = performance.now() + TURN_MS
    for (const [i, row] of rows.entries()) {
      take(row)
      if (i % STEP !== 0 || performance.now() < end) continue
      await nextTurn()
      checkTime()
      end = performance.now() + TURN_MS
    }
  }

  /** False where there are too many, of which none more is taken in then. */
  const takeFresh = async (first: Refreshed['fresh'], moment: Moment): Promise<boolean> => {
    for (let rows = first; ;) {
      const last = Number(rows.at(-1)?.[0])
      if (rows.length === slice) {
        const [row] = await moment.ask(countFresh(names), last, most)
        if (freshCount + slice + Number(row![0]) > most) return false
      }
      if (rows.length > 0) stage += 1
      await inTurns(
        rows,
        (row) => {
          recent.add(Number(row[0]), rowToEvent(row))
          freshCount += 1
        },
        moment,
      )
      if (rows.length < slice) return true
      rows = await moment.ask(moreFresh(names, slice), last)
    }
  }

  /** Of those that are not taken in yet the events that are there. */
  const takeLateSlice = async (rows: readonly LateRow[], moment: Moment): Promise<void> => {
    const some = rows.filter(({ id }) => !taken.has(id))
    if (some.length === 0) return
    stage += 1
    const times = some.map(({ time }) => time)
    const events = await moment.ask(eventsAt(names), times)
    await inTurns(events, (row) => recent.addLate(Number(row[0]), rowToEvent(row)), moment)
    for (const { id, transaction } of some) taken.set(id, transaction)
    lateCount += some.length
  }

  const takeLate = async (
    { late, running }: Pick<Refreshed, 'late' | 'running'>,
    moment: Moment,
  ): Promise<boolean> => {
    for (let rows = late; ;) {
      const last = rows.at(-1)
      const place = last && ([String(last.transaction), last.id] as const)
      if (place && rows.length === slice) {
        const [row] = await moment.ask(countLate(names), ...place, most)
        if (lateCount + slice + Number(row![0]) > most) return false
      }
      await takeLateSlice(rows, moment)
      if (rows.length < slice) break
      rows = (await moment.ask(moreLate(names, slice), ...place!)).map(readLateRow)
    }
    // What commits from now on is of these transactions, or of later ones.
    if (running > takenBefore) takenBefore = running
    for (const [id, transaction] of taken) if (transaction < takenBefore) taken.delete(id)
    return true
  }

  const statement = (): string =>
    refreshStatement(names, slice, {
      stage,
      // As long as no state is known, nothing can be taken in.
      last: version < 0 ? Number.MAX_SAFE_INTEGER : recent.last,
      before: takenBefore,
      taken: [...taken.keys()],
    })

  const refresh = async (
    moment: Moment,
    rows?: readonly TextRow[],
  ): Promise<Coverage | 'outdated'> => {
    moment.checkTime()
    const asked = rows && readRefreshed(rows)
    // What others have taken in since would be taken in again.
    const isCurrent = asked?.stage === stage
    let next = isCurrent ? asked : readRefreshed(await moment.ask(statement()))
    if (next.version < version) return 'outdated'
    if (next.version > version) {
      setState(next, (await moment.ask(visibleStatement(names))).map(readSegmentInfo))
      next = readRefreshed(await moment.ask(statement()))
    }
    if (!(await takeLate(next, moment))) return { version, segments: [], recent: [], to: -1 }
    const isAll = await takeFresh(next.fresh, moment)
    const to = isAll ? Number.MAX_SAFE_INTEGER : recent.last
    return { version, segments, recent: recent.parts(), to }
  }

  let last: Promise<unknown> = Promise.resolve()
  return {
    cache: createChunkCache(),
    habits: createHabits(),
    statement,
    // One after another, as each goes on where the one before has come to.
    async refresh(moment, rows) {
      const next = last.then(() => refresh(moment, rows))
      last = next.catch(() => {})
      return next
    },
  }
}
