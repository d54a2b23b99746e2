import type { AuditEvent } from '../../../src/event/event.js'
import { isEmpty, splitAt, type TimeBounds } from '../../../src/filter/bounds.js'
import { pageCollector } from '../../../src/store-kit/collect.js'
import {
  type IndexView,
  isIndexedOrder,
  takeSorted,
} from '../../../src/store-kit/index/index-list.js'
import type { EventPage } from '../../../src/store/store.js'
import { type ListQuery, scanRows } from './list-query.js'
import { coveredTo, runIndex } from './index-run.js'

/** In the order of attributes: the first by the index, and all of what it does not know. */
export async function listSorted(list: ListQuery, bounds: TimeBounds): Promise<EventPage> {
  const { indexed, query, filter, matches, toEvent, present, options } = list
  let collector = pageCollector(query)
  if (isEmpty(bounds)) return collector.page()
  let covered = -1
  if (isIndexedOrder(query.sorts)) {
    options.trace?.enter('sort')
    covered = await coveredTo(indexed, present, options)
  }
  const { covered: known, rest: others } = splitAt(bounds, covered)
  const take = (event: AuditEvent): boolean => {
    if (!matches(event)) return false
    collector.add(event)
    return true
  }
  const run = {
    present,
    bounds: () => known,
    start(view: IndexView) {
      // Where it starts again all is met again.
      collector = pageCollector(query)
      return takeSorted(view, { filter, query, bounds: known, take })
    },
    visit: () => false,
  }
  if (isEmpty(known) || (await runIndex(indexed, run, toEvent, options))) {
    await scanRows(list, collector, others)
  } else {
    collector = pageCollector(query)
    await scanRows(list, collector, bounds)
  }
  return collector.page()
}
