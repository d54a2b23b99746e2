import { extractedSource } from '../../../src/store-kit/index/block-source.js'
import { createGrowingIndex } from '../../../src/store-kit/index/growing-index.js'
import type { IndexPart } from '../../../src/store-kit/index/part.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { type IndexState, loadIndexState } from './index-state.js'
import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import { EVENT_COLUMNS, type EventValues, rowToEvent, valuesToRow } from '../schema/rows.js'
import { readSegment } from './segment-reader.js'
import type { Tables } from '../schema/tables.js'

/** The index of the events at one moment. */
export interface Coverage {
  readonly segments: readonly IndexPart[]
  /** Parts in memory, which do not change. */
  readonly recent: readonly IndexPart[]
  /** All events up to this time are in the parts, except open live events. */
  readonly to: Microseconds
}

/** The index of a file: segments in the file, and in memory the events that are in no segment yet. */
export interface LogIndex {
  /** The last coverage, if it is still complete at these marks. */
  known(marks: Marks): Coverage | undefined
  /**
   * Adds the new events, and returns the coverage of the snapshot within which it has to be called.
   * Returns `undefined` if the time slice ended (`isOver`) before all were added: call it again then.
   */
  refresh(isOver: () => boolean): Coverage | undefined
  /** Whether these segments can still be read. Call it within a snapshot, after `refresh`. */
  has(segments: readonly IndexPart[]): boolean
  /** Number of chunks that have been read. */
  readonly reads: () => number
}

const BLOCK = 2048
/** Rows between two checks of the time. */
const STEP = 64
/** Unsealed events that are kept in memory, in segments; with more, queries check the events one by one. */
const MAX_UNSEALED = 4

/** While these stay the same, so do the index and the events. */
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
  const max = MAX_UNSEALED * segmentSize
  const recent = createGrowingIndex(BLOCK, extractedSource)
  let state: IndexState | undefined
  let segments = new Map<number, IndexPart>()
  /** Id of the last row of `daybook_late` that was added. */
  let lastLate = 0
  let reads = 0
  let last: { readonly marks: Marks; readonly coverage: Coverage } | undefined

  const setState = (next: IndexState): void => {
    recent.dropUntil(next.sealedTo)
    if (next.sealedLate !== state?.sealedLate) {
      recent.dropLate()
      lastLate = next.sealedLate
    }
    segments = new Map(
      next.segments.map((row) => [
        row.id,
        segments.get(row.id) ?? readSegment(connection, row, () => void (reads += 1)),
      ]),
    )
    state = next
  }

  /** False if `isOver` came before all events were added. */
  const addNew = (isOver: () => boolean): boolean => {
    for (;;) {
      const rows = statement(NEW_ROWS).raw(true).all(recent.last) as EventValues[]
      for (const values of rows) recent.add(values[0], rowToEvent(valuesToRow(values)))
      if (rows.length < STEP) return true
      if (isOver()) return false
    }
  }

  const addLate = (isOver: () => boolean): boolean => {
    for (;;) {
      const late = statement(LATE).all(lastLate) as { id: number; time: Microseconds }[]
      for (const { id, time } of late) {
        const row = events.at(time)
        if (row) recent.addLate(time, rowToEvent(row))
        lastLate = id
      }
      if (late.length < STEP) return true
      if (isOver()) return false
    }
  }

  const tooMany = ({
    appended,
    sealed,
  }: Marks): { readonly isNew: boolean; readonly isLate: boolean } => {
    if (appended - sealed <= max) return { isNew: false, isLate: false }
    const { late } = statement(COUNT_LATE).get(lastLate, max) as { readonly late: number }
    return { isNew: true, isLate: late >= max }
  }

  const cover = (marks: Marks, isOver: () => boolean): Coverage | undefined => {
    if (state?.version !== marks.version) setState(loadIndexState(connection))
    const { isNew, isLate } = tooMany(marks)
    if (isLate) return { segments: [], recent: [], to: -1 }
    if (!addLate(isOver)) return undefined
    if (!isNew && !addNew(isOver)) return undefined
    return {
      segments: [...segments.values()],
      recent: recent.parts(),
      // With too many events, only those that were added before.
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
