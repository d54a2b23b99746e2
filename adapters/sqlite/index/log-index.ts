import { extractedSource } from '../../../src/store-kit/index/block-source.js'
import { createGrowingIndex } from '../../../src/store-kit/index/growing-index.js'
import type { IndexPart } from '../../../src/store-kit/index/part.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { type IndexState, loadIndexState } from './index-state.js'
import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import { EVENT_COLUMNS, type EventValues, rowToEvent, valuesToRow } from '../schema/rows.js'
import { readSegment } from './segment-reader.js'
import type { Tables } from '../schema/tables.js'

/** What the index knows of the events at one moment. */
export interface Coverage {
  readonly segments: readonly IndexPart[]
  /** In memory; what they have stays as it is. */
  readonly recent: readonly IndexPart[]
  /** All events up to this time are in the parts, but for live ones that are open. */
  readonly to: Microseconds
}

/** The index of the events: segments in the file, and in memory what is in none of them yet. */
export interface LogIndex {
  /** What it knows already, where that is all there is at the moment of the marks. */
  known(marks: Marks): Coverage | undefined
  /**
   * Takes in what is new, until the turn is over; `undefined` where more is left to be taken in. Belongs into a
   * snapshot, of which the coverage is then.
   */
  refresh(isOver: () => boolean): Coverage | undefined
  /** Whether these can still be read; belongs into a snapshot after `refresh`. */
  has(segments: readonly IndexPart[]): boolean
  /** How many pieces of the index have been read. */
  readonly reads: () => number
}

const BLOCK = 2048
// Rows that are taken in between two looks at the time.
const STEP = 64
// So many segments' worth of events is kept in memory; where more are in none, they are looked at one by one.
const MOST_UNSEALED = 4

/** All that the index knows stays as it is as long as these do. */
export interface Marks {
  readonly version: number
  readonly appended: number
  readonly sealed: number
}

const MARKS = 'SELECT version, appended, sealed FROM daybook_high_water, daybook_index'

const isSame = (a: Marks, b: Marks): boolean =>
  a.version === b.version && a.appended === b.appended && a.sealed === b.sealed

const NEW_ROWS = `SELECT ${EVENT_COLUMNS} FROM daybook_events WHERE created_at > ?
  ORDER BY created_at LIMIT ${STEP}`

const LATE = `SELECT id, created_at AS time FROM daybook_late WHERE id > ? ORDER BY id LIMIT ${STEP}`

const COUNT_LATE = 'SELECT count(*) AS late FROM (SELECT 1 FROM daybook_late WHERE id > ? LIMIT ?)'

export function createLogIndex(
  { connection, events }: Tables,
  { segmentSize }: SealingTuning,
): LogIndex {
  const { statement } = connection
  const most = MOST_UNSEALED * segmentSize
  const recent = createGrowingIndex(BLOCK, extractedSource)
  let state: IndexState | undefined
  let segments = new Map<number, IndexPart>()
  /** Of `daybook_late`, the last one that was taken in. */
  let lateTaken = 0
  let reads = 0
  let last: { readonly marks: Marks; readonly coverage: Coverage } | undefined

  const setState = (next: IndexState): void => {
    recent.dropUntil(next.sealedTo)
    if (next.sealedLate !== state?.sealedLate) {
      recent.dropLate()
      lateTaken = next.sealedLate
    }
    segments = new Map(
      next.segments.map((row) => [
        row.id,
        segments.get(row.id) ?? readSegment(connection, row, () => void (reads += 1)),
      ]),
    )
    state = next
  }

  /** False where the turn was over before all was taken in. */
  const takeNew = (isOver: () => boolean): boolean => {
    for (;;) {
      const rows = statement(NEW_ROWS).raw(true).all(recent.last) as EventValues[]
      for (const values of rows) recent.add(values[0], rowToEvent(valuesToRow(values)))
      if (rows.length < STEP) return true
      if (isOver()) return false
    }
  }

  const takeLate = (isOver: () => boolean): boolean => {
    for (;;) {
      const late = statement(LATE).all(lateTaken) as { id: number; time: Microseconds }[]
      for (const { id, time } of late) {
        const row = events.at(time)
        if (row) recent.addLate(time, rowToEvent(row))
        lateTaken = id
      }
      if (late.length < STEP) return true
      if (isOver()) return false
    }
  }

  const isTooMuch = ({
    appended,
    sealed,
  }: Marks): { readonly isNew: boolean; readonly isLate: boolean } => {
    if (appended - sealed <= most) return { isNew: false, isLate: false }
    const { late } = statement(COUNT_LATE).get(lateTaken, most) as { readonly late: number }
    return { isNew: true, isLate: late >= most }
  }

  const cover = (marks: Marks, isOver: () => boolean): Coverage | undefined => {
    if (state?.version !== marks.version) setState(loadIndexState(connection))
    const { isNew, isLate } = isTooMuch(marks)
    if (isLate) return { segments: [], recent: [], to: -1 }
    if (!takeLate(isOver)) return undefined
    if (!isNew && !takeNew(isOver)) return undefined
    return {
      segments: [...segments.values()],
      recent: recent.parts(),
      // In no segment, or taken in before there were too many.
      to: isNew ? recent.last : Number.MAX_SAFE_INTEGER,
    }
  }

  const known = (marks: Marks): Coverage | undefined =>
    last && isSame(last.marks, marks) ? last.coverage : undefined

  return {
    known,
    refresh(isOver) {
      const marks = statement(MARKS).get() as Marks
      const before = known(marks)
      if (before) return before
      const coverage = cover(marks, isOver)
      last = coverage && { marks, coverage }
      return coverage
    },
    has(wanted) {
      if (wanted === last?.coverage.segments) return true
      const there = new Set(segments.values())
      return wanted.every((segment) => there.has(segment))
    },
    reads: () => reads,
  }
}
