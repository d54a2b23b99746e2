import type { AuditEvent } from '../../../src/event/event.js'
import { beyond, isEmpty, splitAt, type TimeBounds } from '../../../src/filter/bounds.js'
import { type EventCollector, pageCollector } from '../../../src/store-kit/collect.js'
import { leadsByValues } from '../../../src/store-kit/index/index-filter.js'
import { candidatesInTime, type IndexView } from '../../../src/store-kit/index/index-list.js'
import type { Order } from '../../../src/store-kit/index/part.js'
import { createProbe } from '../../../src/store-kit/index/probe.js'
import type { EventPage } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { type ListQuery, scanRows } from './list-query.js'
import { coveredTo, runIndex } from './index-run.js'

/** Lists in the order of `created_at`. Reads the first rows one by one, then uses the index. */
export async function listInTime(
  list: ListQuery,
  order: Order,
  bounds: TimeBounds,
): Promise<EventPage> {
  const collector = pageCollector(list.query)
  if (!list.filter) {
    await scanRows(list, collector, bounds)
    return collector.page()
  }
  const { indexed, filter, logState, options } = list
  // An index that is up to date finds the events of a list of values faster than a probe.
  const isIndexReady = leadsByValues(filter) && indexed.index.known(logState) !== undefined
  const rest = isIndexReady
    ? bounds
    : await scanRows(list, collector, bounds, createProbe(indexed.firstProbe))
  if (!rest || isEmpty(rest)) return collector.page()

  options.trace?.enter('index')
  const { covered, rest: others } = splitAt(rest, await coveredTo(indexed, logState, options))
  const askIndex = (): Promise<boolean> => listByIndex(list, collector, order, covered)
  const scanOthers = (): Promise<boolean> => scanAll(list, collector, others)
  const [first, second] = order === 'asc' ? [askIndex, scanOthers] : [scanOthers, askIndex]
  if (!(await first())) await second()
  return collector.page()
}

/** Returns true if the page is full. */
const scanAll = async (
  list: ListQuery,
  collector: EventCollector,
  bounds: TimeBounds,
): Promise<boolean> => (await scanRows(list, collector, bounds)) === undefined

/** Finds the events within the bounds by the index. Returns true if the page is full. */
async function listByIndex(
  list: ListQuery,
  collector: EventCollector,
  order: Order,
  bounds: TimeBounds,
): Promise<boolean> {
  if (isEmpty(bounds)) return false
  const { indexed, filter, matches, toEvent, logState, options } = list
  options.trace?.enter('index')
  let rest = bounds
  let isFull = false
  const run = {
    logState,
    bounds: () => rest,
    *start(view: IndexView) {
      let reached: Microseconds
      const eventAt = (time: Microseconds): AuditEvent | undefined => view.eventAt((reached = time))
      for (const event of candidatesInTime({ ...view, eventAt }, filter, order, rest)) {
        if (event) {
          const decision = matches(event)
          const isMatch = typeof decision === 'boolean' ? decision : yield* decision
          // Only now, as the run may start again with what is left.
          rest = beyond(rest, reached!, order)
          if (isMatch && (isFull = collector.add(event))) return
        }
        yield
      }
    },
  }
  const isCovered = await runIndex(indexed, run, toEvent, options)
  return isCovered ? isFull : scanAll(list, collector, rest)
}
