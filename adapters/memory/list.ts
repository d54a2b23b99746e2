import type { AuditEvent } from '../../src/event/event.js'
import { type QueryTrace, tracedFilter } from '../../src/store/trace.js'
import type { EventQuery } from '../../src/filter/ast.js'
import { type TimeBounds, timeBounds } from '../../src/filter/bounds.js'
import { type EventCollector, pageCollector } from '../../src/store-kit/collect.js'
import { compileFilterInSteps } from '../../src/filter/evaluate.js'
import { scanDirection } from '../../src/filter/order.js'
import type { Decide, Decision } from '../../src/filter/steps.js'
import { type IndexFilter, indexFilter } from '../../src/store-kit/index/index-filter.js'
import {
  candidatesInTime,
  isIndexedOrder,
  takeSorted,
} from '../../src/store-kit/index/index-list.js'
import type { Order } from '../../src/store-kit/index/part.js'
import { createProbe, type Probe } from '../../src/store-kit/index/probe.js'
import { tracedView } from '../../src/store-kit/index/traced-view.js'
import type { EventPage } from '../../src/store/store.js'
import type { EventIndex } from './event-index.js'
import { createTimeSlices } from '../../src/filter/time-slices.js'
import type { EventRange, Timeline } from './timeline.js'

/** Settings that tests vary. */
export interface MemoryTuning {
  /** Minimum number of events for using the index. Fewer events are checked one by one. */
  readonly minIndexed: number
  /** Number of events that are checked one by one before the index is used. */
  readonly probe: number
}

/** The sources of a list. */
export interface ListSources {
  readonly timeline: Timeline
  readonly index: EventIndex
  readonly tuning: MemoryTuning
  /** Yields to the event loop. */
  readonly pause: () => Promise<void>
}

/** The state of one list query. */
interface ListQuery {
  readonly sources: ListSources
  readonly query: EventQuery
  readonly trace: QueryTrace | undefined
  readonly collector: EventCollector
  readonly matches: Decide<AuditEvent>
  readonly bounds: TimeBounds
  /** The events within the bounds when the list begins. */
  readonly range: EventRange
}

/**
 * Number of events that a scan checks between two readings of the clock. A reading costs as much as a cheap check.
 */
const CLOCK_STRIDE = 16

/** Returns a page of the matching events. */
export async function listEvents(
  sources: ListSources,
  query: EventQuery,
  trace: QueryTrace | undefined,
): Promise<EventPage> {
  const collector = pageCollector(query)
  const bounds = timeBounds(query.where)
  const matches = tracedFilter(trace, compileFilterInSteps(query.where))
  const range = sources.timeline.between(bounds.from, bounds.to)
  const list = { sources, query, trace, collector, matches, bounds, range }
  const direction = scanDirection(query.sorts)
  if (direction) await listInTime(list, direction)
  else await listSorted(list)
  return collector.page()
}

/** Lists in the order of `created_at`. */
async function listInTime(list: ListQuery, order: Order): Promise<void> {
  const { query, range } = list
  const { minIndexed, probe } = list.sources.tuning
  const isIndexed = range.to - range.from >= minIndexed
  const filter = isIndexed ? indexFilter(query.where) : undefined
  const rest = await scan(list, order, filter && createProbe(probe))
  if (rest) await listByIndex(list, filter, order, rest)
}

/**
 * Checks the events one by one, up to the end of the probe if there is one. If the probe ended before the page was
 * full, returns the remaining bounds.
 */
async function scan(
  { sources, range: { events, times, from, to }, trace, collector, matches, bounds }: ListQuery,
  order: Order,
  probe?: Probe,
): Promise<TimeBounds | undefined> {
  const step = order === 'asc' ? 1 : -1
  trace?.enter(probe ? 'probe' : 'scan')
  const timeSlices = createTimeSlices(sources.pause)
  let at = step > 0 ? from : to - 1
  for (let seen = 1; at >= from && at < to; seen++, at += step) {
    const event = events[at]!
    if (probe?.left() === 0)
      return step > 0 ? { from: times[at]!, to: bounds.to } : { from: bounds.from, to: times[at]! }
    const decision = matches(event)
    if (typeof decision === 'boolean' ? decision : await timeSlices.finish(decision)) {
      probe?.matched()
      const added = collector.add(event)
      if (typeof added === 'boolean' ? added : await timeSlices.finish(added)) return undefined
    }
    probe?.passed(1)
    if (seen % CLOCK_STRIDE === 0 && timeSlices.isOver()) await timeSlices.next()
  }
  return undefined
}

/** Finds the events within the bounds by the index. */
async function listByIndex(
  { sources: { index, pause }, trace, collector, matches }: ListQuery,
  filter: IndexFilter | undefined,
  order: Order,
  bounds: TimeBounds,
): Promise<void> {
  trace?.enter('index')
  const timeSlices = createTimeSlices(pause)
  const view = tracedView(await timeSlices.finish(index.view(filter)), trace)
  for (const event of candidatesInTime(view, filter, order, bounds)) {
    const decision = event !== undefined && matches(event)
    const isMatch = typeof decision === 'boolean' ? decision : await timeSlices.finish(decision)
    const added = isMatch && collector.add(event!)
    if (typeof added === 'boolean' ? added : await timeSlices.finish(added)) return
    if (timeSlices.isOver()) await timeSlices.next()
  }
}

/** Lists in the order of attributes. Uses the index, except for the order of ids, which the index lacks. */
async function listSorted(list: ListQuery): Promise<void> {
  const { sources, query, trace, collector, matches, bounds } = list
  const { timeline, index, tuning, pause } = sources
  if (timeline.size < tuning.minIndexed || !isIndexedOrder(query.sorts)) {
    await scan(list, collector.direction)
    return
  }
  trace?.enter('sort')
  const add = (event: AuditEvent): Decision => collector.add(event)
  const filter = indexFilter(query.where)
  const timeSlices = createTimeSlices(pause)
  const view = tracedView(await timeSlices.finish(index.view(filter)), trace)
  for (const _ of takeSorted(view, { filter, query, bounds, matches, add }))
    if (timeSlices.isOver()) await timeSlices.next()
}
