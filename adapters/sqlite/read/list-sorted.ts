import type { AuditEvent } from '../../../src/event/event.js'
import { isEmpty, splitAt, type TimeBounds } from '../../../src/filter/bounds.js'
import type { Decision } from '../../../src/filter/steps.js'
import { pageCollector } from '../../../src/store-kit/collect.js'
import {
  type IndexView,
  isIndexedOrder,
  takeSorted,
} from '../../../src/store-kit/index/index-list.js'
import type { EventPage } from '../../../src/store/store.js'
import { type ListQuery, scanRows } from './list-query.js'
import { coveredTo, runIndex } from './index-run.js'

/** Lists in the order of attributes: the first events by the index, and a scan of the ranges that it does not cover. */
export async function listSorted(list: ListQuery, bounds: TimeBounds): Promise<EventPage> {
  const { indexed, query, filter, matches, toEvent, logState, options } = list
  let collector = pageCollector(query)
  if (isEmpty(bounds)) return collector.page()
  let coveredEnd = -1
  if (isIndexedOrder(query.sorts)) {
    options.trace?.enter('sort')
    coveredEnd = await coveredTo(indexed, logState, options)
  }
  const { covered, rest: others } = splitAt(bounds, coveredEnd)
  const add = (event: AuditEvent): Decision => collector.add(event)
  const run = {
    logState,
    bounds: () => covered,
    start(view: IndexView) {
      // A run that starts again finds all events again.
      collector = pageCollector(query)
      return takeSorted(view, { filter, query, bounds: covered, matches, add })
    },
  }
  if (isEmpty(covered) || (await runIndex(indexed, run, toEvent, options))) {
    await scanRows(list, collector, others)
  } else {
    collector = pageCollector(query)
    await scanRows(list, collector, bounds)
  }
  return collector.page()
}
