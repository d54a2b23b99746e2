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

/** Along `created_at`, from the end at which the order begins. */
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
  const { indexed, filter, present, options } = list
  // Where the index has to take in nothing first, it leads to the events in less than a probe takes.
  const isAtHand = leadsByValues(filter) && indexed.index.known(present) !== undefined
  const rest = isAtHand
    ? bounds
    : await scanRows(list, collector, bounds, createProbe(indexed.firstProbe))
  if (!rest || isEmpty(rest)) return collector.page()

  options.trace?.enter('index')
  const { covered: known, rest: others } = splitAt(rest, await coveredTo(indexed, present, options))
  const askIndex = (): Promise<boolean> => walk(list, collector, order, known)
  const scanOthers = (): Promise<boolean> => scanAll(list, collector, others)
  const [first, second] = order === 'asc' ? [askIndex, scanOthers] : [scanOthers, askIndex]
  if (!(await first())) await second()
  return collector.page()
}

/** True once there are enough. */
const scanAll = async (
  list: ListQuery,
  collector: EventCollector,
  bounds: TimeBounds,
): Promise<boolean> => (await scanRows(list, collector, bounds)) === undefined

/** The same by the index. */
async function walk(
  list: ListQuery,
  collector: EventCollector,
  order: Order,
  bounds: TimeBounds,
): Promise<boolean> {
  if (isEmpty(bounds)) return false
  const { indexed, filter, matches, toEvent, present, options } = list
  options.trace?.enter('index')
  let rest = bounds
  let isFull = false
  const run = {
    present,
    bounds: () => rest,
    start(view: IndexView) {
      const eventAt = (time: Microseconds): AuditEvent | undefined => {
        const event = view.eventAt(time)
        rest = beyond(rest, time, order)
        return event
      }
      return candidatesInTime({ ...view, eventAt }, filter, order, rest)
    },
    visit(event: AuditEvent | undefined) {
      if (event && matches(event)) isFull = collector.add(event)
      return isFull
    },
  }
  const isKnown = await runIndex(indexed, run, toEvent, options)
  return isKnown ? isFull : scanAll(list, collector, rest)
}
