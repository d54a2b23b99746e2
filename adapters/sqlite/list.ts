import type { EventQuery } from '../../src/filter/ast.js'
import { timeBounds } from '../../src/filter/bounds.js'
import { pageCollector } from '../../src/filter/collect.js'
import { compileFilter } from '../../src/filter/evaluate.js'
import type { EventPage, ListOptions } from '../../src/store.js'
import { narrowAttribute } from './narrow.js'
import { narrowWhere } from './narrow-where.js'
import { rowToEvent, rowToUnread } from './rows.js'
import { scanEvents } from './scan.js'
import type { Tables } from './tables.js'

export async function listEvents(
  tables: Tables,
  query: EventQuery,
  options: ListOptions,
): Promise<EventPage> {
  const matches = compileFilter(query.where)
  const toEvent = options.lazy ? rowToUnread : rowToEvent
  const collector = pageCollector(query)
  const { from, to } = timeBounds(query.where)
  const bounds = { from: Math.max(from, 0), to }
  const where = narrowWhere(query.where, narrowAttribute)
  await scanEvents(
    tables,
    { bounds, direction: collector.direction, where },
    (row) => {
      const event = toEvent(row)
      return matches(event) && collector.add(event)
    },
    options,
  )
  return collector.page()
}
