import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AuditEvent } from '../../../src/event/event.js'
import { parseEventId } from '../../../src/event/event-id.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import type { Steps } from '../../../src/filter/steps.js'
import type { IndexView } from '../../../src/store-kit/index/index-list.js'
import { DamagedSegment } from '../../../src/store-kit/index/segment-source.js'
import { unindexedPart } from '../../../src/store-kit/index/unindexed-part.js'
import type { IndexPart } from '../../../src/store-kit/index/part.js'
import { tracedView } from '../../../src/store-kit/index/traced-view.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Coverage, LogIndex } from '../index/log-index.js'
import type { EventRow } from '../schema/rows.js'
import type { BoundedListOptions, LogState } from './scan.js'
import type { Tables } from '../schema/tables.js'
import { runTimeSlice } from '../connection/time-slice.js'

/** The tables and the index of a log. */
export interface Indexed {
  readonly tables: Tables
  readonly index: LogIndex
  /** How many rows a list reads before it uses the index. */
  readonly firstProbe: number
}

/** Brings the index up to date; returns the time up to which it covers all events. */
export async function coveredTo(
  { tables: { connection }, index }: Indexed,
  logState: LogState,
  options: BoundedListOptions,
): Promise<Microseconds> {
  let to = index.known(logState)?.to
  if (to !== undefined) return to
  const step = (isOver: () => boolean): boolean => {
    to = index.refresh(isOver)?.to
    return to === undefined
  }
  const slice = (): boolean => {
    try {
      return connection.snapshot(() => runTimeSlice(step, { maxSteps: 1 }))
    } catch (error) {
      if (!(error instanceof DamagedSegment)) throw error
      index.setAside(error)
      return true
    }
  }
  while (await connection.retry(slice, options)) await nextTurn()
  return to!
}

/** A query of the index. */
export interface IndexRun {
  /** The state of the log when the list began. */
  readonly logState: LogState
  /** The bounds of the rows that have not been visited yet. */
  readonly bounds: () => TimeBounds
  /** Starts the work, which returns once it has enough. */
  readonly start: (view: IndexView) => Steps<void>
}

/**
 * Runs a query of the index in time slices, each in one snapshot of the file. If segments were merged
 * between two slices, it starts again with the bounds that are left. Returns false if the index no
 * longer covers the bounds, because too many late events came; the caller then scans the rest.
 */
export async function runIndex(
  { tables, index }: Indexed,
  { logState, bounds, start }: IndexRun,
  toEvent: (row: EventRow) => AuditEvent,
  options: BoundedListOptions,
): Promise<boolean> {
  const { connection, events, live } = tables
  const { trace } = options
  let open: ReadonlySet<Microseconds> | undefined
  let segments: readonly IndexPart[] = []
  let steps: Steps<void> | undefined
  let isCovered = true

  const eventAt = (time: Microseconds): AuditEvent | undefined => {
    const row = (open?.has(time) ? live.at(time) : undefined) ?? events.at(time)
    if (!row) index.checkMissing(time)
    return row && toEvent(row)
  }
  const timesOf = (ids: readonly string[]): readonly Microseconds[] =>
    ids.flatMap((id) => events.foreignTime(id) ?? parseEventId(id)?.time ?? [])

  const begin = (coverage: Coverage): Steps<void> => {
    // `eventAt` finds an event that is open now in either table, also after it was closed.
    open ??= new Set(logState.hasOpen ? live.timesBetween(bounds()) : [])
    const openParts = open.size > 0 ? [unindexedPart('open', Array.from(open))] : []
    const parts = [...coverage.segments, ...coverage.recent, ...openParts]
    segments = coverage.segments
    return start(tracedView({ parts, eventAt, timesOf }, trace))
  }

  const step = (isOver: () => boolean): boolean => {
    const coverage = index.refresh(isOver)
    if (!coverage) return true
    if (!steps || !index.has(segments)) {
      isCovered = coverage.to >= bounds().to
      if (!isCovered) return false
      steps = begin(coverage)
    }
    do if (steps.next().done) return false
    while (!isOver())
    return true
  }

  const slice = (): boolean => {
    const before = index.reads()
    try {
      return connection.snapshot(() => runTimeSlice(step, { maxSteps: 1 }))
    } catch (error) {
      // A generator that has thrown cannot continue.
      steps = undefined
      if (!(error instanceof DamagedSegment)) throw error
      index.setAside(error)
      return true
    } finally {
      if (trace?.current) trace.current.reads += index.reads() - before
    }
  }
  while (await connection.retry(slice, options)) await nextTurn()
  return isCovered
}
