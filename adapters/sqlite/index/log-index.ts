import type { IndexPart } from '../../../src/store-kit/index/part.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { loadSealed, type SealedState } from './index-state.js'
import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import type { DamagedSegment } from '../../../src/store-kit/index/segment-source.js'
import { isLost } from './removed-events.js'
import { createRecentEvents } from './recent-events.js'
import { createSegmentParts } from './segment-parts.js'
import { missingEvent, segmentDamage } from '../../../src/store-kit/damages.js'
import { onlyRow } from '../schema/events.js'
import type { Tables } from '../schema/log-tables.js'

/** The index of the events at one moment. */
export interface Coverage {
  readonly segments: readonly IndexPart[]
  /** Parts in memory, which do not change. */
  readonly recent: readonly IndexPart[]
  /** All events up to this time are in the parts, except open live events. */
  readonly to: Microseconds
}

/** The segments at one moment. */
export interface Sealed {
  readonly state: SealedState
  /** Segments of `state.segments` that can be read, and ranges of events in place of damaged segments. */
  readonly segments: readonly IndexPart[]
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
  /**
   * The segments, of the snapshot within which it has to be called, without reading any event. Returns `undefined`
   * if the time slice ended (`isOver`): call it again then.
   */
  sealed(isOver: () => boolean): Sealed | undefined
  /** True if these segments can still be read. Call it within a snapshot, after `refresh`. */
  has(segments: readonly IndexPart[]): boolean
  /** Reads the events of a damaged segment one by one from now on. */
  setAside(damaged: DamagedSegment): void
  /** Reports an event that is in a segment and has no row, unless it was removed. Call it within a snapshot. */
  checkMissing(time: Microseconds): void
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

/** `onDamaged` is called for each damaged segment that is found, so that it is built anew. */
export function createLogIndex(
  tables: Tables,
  tuning: SealingTuning,
  onDamaged: (segment: number) => void = () => {},
): LogIndex {
  const { connection, damages } = tables
  const recent = createRecentEvents(tables, tuning)
  const segments = createSegmentParts(connection, damages, onDamaged)
  let state: SealedState | undefined
  let last: { readonly marks: Marks; readonly coverage: Coverage } | undefined

  const updateState = (version: number): void => {
    if (state?.version === version) return
    const next = loadSealed(connection)
    recent.dropSealed(next)
    segments.update(next)
    state = next
  }

  const cover = (marks: Marks, isOver: () => boolean): Coverage | undefined => {
    updateState(marks.version)
    const { isNew, isLate } = recent.tooMany(marks.appended - marks.sealed)
    if (isLate) return { segments: [], recent: [], to: -1 }
    if (!segments.readAhead(isOver)) return undefined
    if (!recent.addLate(isOver)) return undefined
    if (!isNew && !recent.addNew(isOver)) return undefined
    const parts = recent.parts(isOver)
    if (!parts) return undefined
    return {
      segments: segments.all(),
      recent: parts,
      // If there are too many new events, `recent` has only those that were added before.
      to: isNew ? recent.last : Number.MAX_SAFE_INTEGER,
    }
  }

  const known = (marks: Marks): Coverage | undefined =>
    last && isSame(last.marks, marks) ? last.coverage : undefined

  return {
    known,
    refresh(isOver) {
      const marks = onlyRow(connection, MARKS) as Marks
      const before = known(marks)
      if (before) return before
      const coverage = cover(marks, isOver)
      last = coverage && { marks, coverage }
      return coverage
    },
    sealed(isOver) {
      const { version } = connection.statement(MARKS).get() as Marks
      updateState(version)
      return segments.readAhead(isOver) ? { state: state!, segments: segments.all() } : undefined
    },
    has(wanted) {
      if (wanted === last?.coverage.segments) return true
      const present = new Set(segments.all())
      return wanted.every((segment) => present.has(segment))
    },
    setAside({ segment, message }) {
      const row = state?.segments.find(({ id }) => id === segment)
      if (row) damages.report(segmentDamage(row, message))
      onDamaged(segment)
      segments.setAside(segment)
      state = undefined
      last = undefined
    },
    checkMissing(time) {
      if (state && isLost(connection, state.segments, time)) damages.report(missingEvent(time))
    },
    reads: segments.reads,
  }
}
