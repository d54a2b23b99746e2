import type { IndexPart } from '../../../src/store-kit/index/part.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { type IndexState, loadIndexState, type SqliteSegmentRow } from './index-state.js'
import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import type { DamagedSegment } from '../../../src/store-kit/index/segment-source.js'
import { createRangePart, type RangePart } from './range-part.js'
import { createRecentEvents } from './recent-events.js'
import { readSegment } from './segment-reader.js'
import { missingEvent } from '../schema/damaged-rows.js'
import { segmentDamage } from './segment-damage.js'
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
  /** Reads the events of a damaged segment one by one from now on. */
  setAside(damaged: DamagedSegment): void
  /** Reports an event that a segment has and the log has not, unless it was removed. Call it within a snapshot. */
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

const EXISTS = 'SELECT 1 FROM daybook_events WHERE created_at = ?'

const REMOVED = `SELECT removed, coalesce((SELECT min(created_at) FROM daybook_events), 9e15) AS oldest
  FROM daybook_index`

const MARKS = 'SELECT version, appended, sealed FROM daybook_high_water, daybook_index'

const isSame = (a: Marks, b: Marks): boolean =>
  a.version === b.version && a.appended === b.appended && a.sealed === b.sealed

/** `onDamaged` is called when a segment is set aside, so that it is built anew. */
export function createLogIndex(
  tables: Tables,
  tuning: SealingTuning,
  onDamaged: (segment: number) => void = () => {},
): LogIndex {
  const { connection, damages } = tables
  const recent = createRecentEvents(tables, tuning)
  let state: IndexState | undefined
  let segments = new Map<number, IndexPart>()
  /** Damaged segments that this process has found. */
  const aside = new Set<number>()
  let asideParts = new Map<number, RangePart>()
  let reads = 0
  let last: { readonly marks: Marks; readonly coverage: Coverage } | undefined

  const setState = (next: IndexState): void => {
    recent.dropSealed(next)
    const isAside = ({ id }: SqliteSegmentRow): boolean => aside.has(id)
    segments = new Map(
      next.segments
        .filter((row) => !isAside(row))
        .map((row) => [
          row.id,
          segments.get(row.id) ?? readSegment(connection, row, () => void (reads += 1)),
        ]),
    )
    const damaged = [...next.damaged, ...next.segments.filter(isAside)]
    asideParts = new Map(
      damaged.map((row) => [row.id, asideParts.get(row.id) ?? createRangePart(connection, row)]),
    )
    for (const row of damaged.filter(({ isTrusted }) => !isTrusted)) {
      damages.report(segmentDamage(row, 'the checksum of its row is wrong'))
      onDamaged(row.id)
    }
    for (const id of aside) if (!asideParts.has(id)) aside.delete(id)
    state = next
  }

  const cover = (marks: Marks, isOver: () => boolean): Coverage | undefined => {
    if (state?.version !== marks.version) setState(loadIndexState(connection))
    const { isNew, isLate } = recent.tooMany(marks.appended - marks.sealed)
    if (isLate) return { segments: [], recent: [], to: -1 }
    for (const range of asideParts.values()) if (!range.read(isOver)) return undefined
    if (!recent.addLate(isOver)) return undefined
    if (!isNew && !recent.addNew(isOver)) return undefined
    return {
      segments: [...segments.values(), ...[...asideParts.values()].map((range) => range.part())],
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
      const ranges = [...asideParts.values()].map((range) => range.part())
      const there = new Set([...segments.values(), ...ranges])
      return wanted.every((segment) => there.has(segment))
    },
    setAside({ segment, message }) {
      const row = state?.segments.find(({ id }) => id === segment)
      if (row) damages.report(segmentDamage(row, message))
      onDamaged(segment)
      aside.add(segment)
      state = undefined
      last = undefined
    },
    checkMissing(time) {
      if (connection.statement(EXISTS).get(time)) return
      const { removed, oldest } = connection.statement(REMOVED).get() as {
        readonly removed: number
        readonly oldest: Microseconds
      }
      const isLost = state?.segments.some(
        (row) => row.removed === removed && row.first <= time && row.last >= time,
      )
      if (isLost && time >= oldest) damages.report(missingEvent(time))
    },
    reads: () => reads,
  }
}
