import type { IndexPart } from '../../../src/store-kit/index/part.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { type IndexState, loadIndexState } from './index-state.js'
import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import { createRecentEvents } from './recent-events.js'
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

/** While these stay the same, so do the index and the events. */
export interface Marks {
  readonly version: number
  readonly appended: number
  readonly sealed: number
}

const MARKS = 'SELECT version, appended, sealed FROM daybook_high_water, daybook_index'

const isSame = (a: Marks, b: Marks): boolean =>
  a.version === b.version && a.appended === b.appended && a.sealed === b.sealed

export function createLogIndex(tables: Tables, tuning: SealingTuning): LogIndex {
  const { connection } = tables
  const recent = createRecentEvents(tables, tuning)
  let state: IndexState | undefined
  let segments = new Map<number, IndexPart>()
  let reads = 0
  let last: { readonly marks: Marks; readonly coverage: Coverage } | undefined

  const setState = (next: IndexState): void => {
    recent.dropSealed(next)
    segments = new Map(
      next.segments.map((row) => [
        row.id,
        segments.get(row.id) ?? readSegment(connection, row, () => void (reads += 1)),
      ]),
    )
    state = next
  }

  const cover = (marks: Marks, isOver: () => boolean): Coverage | undefined => {
    if (state?.version !== marks.version) setState(loadIndexState(connection))
    const { isNew, isLate } = recent.tooMany(marks.appended - marks.sealed)
    if (isLate) return { segments: [], recent: [], to: -1 }
    if (!recent.addLate(isOver)) return undefined
    if (!isNew && !recent.addNew(isOver)) return undefined
    return {
      segments: [...segments.values()],
      recent: recent.parts(),
      // If there are too many new events, `recent` has only those that were added before.
      to: isNew ? recent.last : Number.MAX_SAFE_INTEGER,
    }
  }

  const known = (marks: Marks): Coverage | undefined =>
    last && isSame(last.marks, marks) ? last.coverage : undefined

  return {
    known,
    refresh(isOver) {
      const marks = connection.statement(MARKS).get() as Marks
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
