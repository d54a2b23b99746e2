import { setImmediate as nextTurn } from 'node:timers/promises'
import { extractedSource } from '../../../src/store-kit/index/block-source.js'
import { INDEX_BOUNDS } from '../../../src/store-kit/index/index-bounds.js'
import { createGrowingIndex } from '../../../src/store-kit/index/growing-index.js'
import type { IndexPart } from '../../../src/store-kit/index/part.js'
import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import type { SegmentInfo } from '../../../src/store-kit/index/segment-source.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { TextRow } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import type { Snapshot } from '../log/snapshot.js'
import { rowToEvent } from '../schema/rows.js'
import { type ChunkCache, createChunkCache } from './chunk-cache.js'
import { createProbeHistory, type ProbeHistory } from './probe-history.js'
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
  selectVisibleSegments,
} from './refresh-statements.js'

/** The index of the events in one snapshot. */
export interface Coverage {
  readonly version: number
  readonly segments: readonly SegmentInfo[]
  /** Parts in memory, which do not change. */
  readonly recent: readonly IndexPart[]
  /** All events up to this time are in the parts, except open live events. */
  readonly to: Microseconds
}

type Moment = Pick<Snapshot, 'ask' | 'checkTime'>

/** The index of a log: segments in the database, and in memory the events that are in no segment yet. */
export interface LogIndex {
  readonly cache: ChunkCache
  readonly probeHistory: ProbeHistory
  /** The statement that `refresh` needs the rows of. */
  statement(): string
  /**
   * Adds what is new in the snapshot. `rows` are those of `statement` in the snapshot, if it was run already.
   * Returns `outdated` if a newer snapshot was added and events that this one needs are no longer in memory.
   */
  refresh(moment: Moment, rows?: readonly TextRow[]): Promise<Coverage | 'outdated'>
}

const BLOCK = 2048
/** Rows that one statement reads. */
const MAX_ROWS = 1000
/** Rows between two checks of the time. */
const STEP = 64
const SLICE_MS = 5
/**
 * Unsealed events that are kept in memory, in segments, within `IndexBounds.unsealedBytes`; with more, queries check
 * the events one by one.
 */
const MAX_UNSEALED = 4

/** All snapshots must come from one server, or from replicas that never go back in time. */
export function createLogIndex(
  names: Names,
  { segmentSize, bounds = INDEX_BOUNDS }: Pick<SealingTuning, 'segmentSize' | 'bounds'>,
): LogIndex {
  const max = MAX_UNSEALED * segmentSize
  const slice = Math.min(MAX_ROWS, max)
  const recent = createGrowingIndex(BLOCK, () => extractedSource(bounds), bounds.bytes)
  const isFull = (): boolean => recent.bytes >= bounds.unsealedBytes
  // Without the late events, all events have to be read one by one, so they have room of their own.
  const isFullOfLate = (): boolean => recent.bytes >= 2 * bounds.unsealedBytes
  let stage = 0
  let version = -1
  let segments: readonly SegmentInfo[] = []
  let freshCount = 0
  let lateCount = 0
  /** Transactions of late events that were added and may be read again, by id. */
  let added = new Map<string, bigint>()
  /** All late events of earlier transactions were added. */
  let addedBefore = 0n

  const setState = (next: Refreshed, visible: readonly SegmentInfo[]): void => {
    stage += 1
    version = next.version
    segments = visible
    const size = recent.size
    recent.dropUntil(next.sealedTo)
    freshCount = Math.max(0, freshCount - (size - recent.size))
    recent.dropLate()
    lateCount = 0
    added = new Map()
    addedBefore = 0n
  }

  const inSlices = async <Row>(
    rows: readonly Row[],
    take: (row: Row) => void,
    { checkTime }: Moment,
  ): Promise<void> => {
    let end = performance.now() + SLICE_MS
    for (const [i, row] of rows.entries()) {
      take(row)
      if (i % STEP !== 0 || performance.now() < end) continue
      await nextTurn()
      checkTime()
      // A statement that was made during the pause also reads the rows that are added from here on.
      stage += 1
      end = performance.now() + SLICE_MS
    }
  }

  /** False if there are too many events; no more are added then. */
  const addFresh = async (first: Refreshed['fresh'], moment: Moment): Promise<boolean> => {
    if (isFull()) return first.length === 0
    for (let rows = first; ;) {
      const last = Number(rows.at(-1)?.[0])
      if (rows.length === slice) {
        const [row] = await moment.ask(countFresh(names), last, max)
        if (freshCount + slice + Number(row![0]) > max) return false
      }
      if (rows.length > 0) stage += 1
      await inSlices(
        rows,
        (row) => {
          recent.add(Number(row[0]), rowToEvent(row))
          freshCount += 1
        },
        moment,
      )
      if (rows.length < slice) return true
      if (isFull()) return false
      rows = await moment.ask(moreFresh(names, slice), last)
    }
  }

  /** Adds the late events that were not added yet and still exist. */
  const addLateSlice = async (rows: readonly LateRow[], moment: Moment): Promise<void> => {
    const some = rows.filter(({ id }) => !added.has(id))
    if (some.length === 0) return
    const times = some.map(({ time }) => time)
    const events = await moment.ask(eventsAt(names), times)
    stage += 1
    await inSlices(events, (row) => recent.addLate(Number(row[0]), rowToEvent(row)), moment)
    for (const { id, transaction } of some) added.set(id, transaction)
    lateCount += some.length
  }

  const addLate = async (
    { late, running }: Pick<Refreshed, 'late' | 'running'>,
    moment: Moment,
  ): Promise<boolean> => {
    for (let rows = late; ;) {
      const last = rows.at(-1)
      const place = last && ([String(last.transaction), last.id] as const)
      if (place && rows.length === slice) {
        const [row] = await moment.ask(countLate(names), ...place, max)
        if (lateCount + slice + Number(row![0]) > max) return false
      }
      await addLateSlice(rows, moment)
      if (rows.length < slice) break
      if (isFullOfLate()) return false
      rows = (await moment.ask(moreLate(names, slice), ...place!)).map(readLateRow)
    }
    // Late events that commit from now on belong to these transactions or to later ones.
    if (running > addedBefore) addedBefore = running
    for (const [id, transaction] of added) if (transaction < addedBefore) added.delete(id)
    return true
  }

  const statement = (): string =>
    refreshStatement(names, slice, {
      stage,
      maxFresh: isFull() ? 1 : slice,
      // Without a known state no events can be added.
      last: version < 0 ? Number.MAX_SAFE_INTEGER : recent.last,
      before: addedBefore,
      added: [...added.keys()],
    })

  const refresh = async (
    moment: Moment,
    rows?: readonly TextRow[],
  ): Promise<Coverage | 'outdated'> => {
    moment.checkTime()
    const given = rows && readRefreshed(rows)
    // After other additions, these rows would be added again.
    const isCurrent = given?.stage === stage
    let next = isCurrent ? given : readRefreshed(await moment.ask(statement()))
    if (next.version < version) return 'outdated'
    if (next.version > version) {
      setState(next, (await moment.ask(selectVisibleSegments(names))).map(readSegmentInfo))
      next = readRefreshed(await moment.ask(statement()))
    }
    if (!(await addLate(next, moment))) return { version, segments: [], recent: [], to: -1 }
    const isAll = await addFresh(next.fresh, moment)
    const to = isAll ? Number.MAX_SAFE_INTEGER : recent.last
    return { version, segments, recent: recent.parts(), to }
  }

  let last: Promise<unknown> = Promise.resolve()
  return {
    cache: createChunkCache(),
    probeHistory: createProbeHistory(),
    statement,
    // One after another, as each continues where the one before has ended.
    async refresh(moment, rows) {
      const next = last.then(() => refresh(moment, rows))
      last = next.catch(() => {})
      return next
    },
  }
}
