import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AuditEvent } from '../../../src/event/event.js'
import { parseEventId } from '../../../src/event/event-id.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import type { IndexView } from '../../../src/store-kit/index/index-list.js'
import { unindexedPart } from '../../../src/store-kit/index/unindexed-part.js'
import type { IndexPart } from '../../../src/store-kit/index/part.js'
import { tracedView } from '../../../src/store-kit/index/traced-view.js'
import type { ListOptions } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Coverage, LogIndex } from '../index/log-index.js'
import type { EventRow } from '../schema/rows.js'
import type { Present } from './scan.js'
import type { Tables } from '../schema/tables.js'
import { runTimeSlice } from '../connection/time-slice.js'

/** What a store's events are read from. */
export interface Indexed {
  readonly tables: Tables
  readonly index: LogIndex
  /** How many rows are looked at before the index is asked, in any case. */
  readonly firstProbe: number
}

/** Waits until the index knows all that it is going to; gives the time up to which that is. */
export async function coveredTo(
  { tables: { connection }, index }: Indexed,
  present: Present,
  options: ListOptions,
): Promise<Microseconds> {
  let to = index.known(present)?.to
  if (to !== undefined) return to
  const step = (isOver: () => boolean): boolean => {
    to = index.refresh(isOver)?.to
    return to === undefined
  }
  const turn = (): boolean => connection.snapshot(() => runTimeSlice(step, { maxSteps: 1 }))
  while (await connection.retry(turn, options)) await nextTurn()
  return to!
}

/** One way through the index: what it yields is given to `visit`, which says when it has enough. */
export interface Run<Step> {
  /** As it is before the bounds' end. */
  readonly present: Present
  readonly bounds: () => TimeBounds
  readonly start: (view: IndexView) => Generator<Step, void, undefined>
  readonly visit: (step: Step) => boolean
}

/**
 * Goes through the index in turns, each on one moment's state of the file. Where segments have been merged
 * in between it starts again: with the bounds that are left then. False where the index knows of so much no
 * more that has come late meanwhile: what is left then is to be looked at without it.
 */
export async function runIndex<Step>(
  { tables, index }: Indexed,
  { present, bounds, start, visit }: Run<Step>,
  toEvent: (row: EventRow) => AuditEvent,
  options: ListOptions,
): Promise<boolean> {
  const { connection, events, live } = tables
  const { trace } = options
  let open: ReadonlySet<Microseconds> | undefined
  let segments: readonly IndexPart[] = []
  let steps: Generator<Step, void, undefined> | undefined
  let isKnown = true

  const eventAt = (time: Microseconds): AuditEvent | undefined => {
    const row = (open?.has(time) ? live.at(time) : undefined) ?? events.at(time)
    return row && toEvent(row)
  }
  const timesOf = (ids: readonly string[]): readonly Microseconds[] =>
    ids.flatMap((id) => events.foreignTime(id) ?? parseEventId(id)?.time ?? [])

  const begin = (coverage: Coverage): Generator<Step, void, undefined> => {
    // What is open now is met wherever it stands by then: among the open ones, or among the events.
    open ??= new Set(present.hasOpen ? live.timesBetween(bounds()) : [])
    const openParts = open.size > 0 ? [unindexedPart('open', Array.from(open))] : []
    const parts = [...coverage.segments, ...coverage.recent, ...openParts]
    segments = coverage.segments
    return start(tracedView({ parts, eventAt, timesOf }, trace))
  }

  const step = (isOver: () => boolean): boolean => {
    const coverage = index.refresh(isOver)
    if (!coverage) return true
    if (!steps || !index.has(segments)) {
      isKnown = coverage.to >= bounds().to
      if (!isKnown) return false
      steps = begin(coverage)
    }
    do {
      const next = steps.next()
      if (next.done || visit(next.value)) return false
    } while (!isOver())
    return true
  }

  const turn = (): boolean => {
    const before = index.reads()
    try {
      return connection.snapshot(() => runTimeSlice(step, { maxSteps: 1 }))
    } catch (error) {
      // A generator that has thrown has ended.
      steps = undefined
      throw error
    } finally {
      if (trace?.current) trace.current.reads += index.reads() - before
    }
  }
  while (await connection.retry(turn, options)) await nextTurn()
  return isKnown
}
