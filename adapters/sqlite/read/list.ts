import { tracedFilter } from '../../../src/store/trace.js'
import { type EventQuery, type Grouping, isAlternative } from '../../../src/filter/ast.js'
import { setsTimeBound, timeBounds } from '../../../src/filter/bounds.js'
import { compileFilter } from '../../../src/filter/evaluate.js'
import { scanDirection } from '../../../src/filter/order.js'
import { indexFilter } from '../../../src/store-kit/index/index-filter.js'
import type { EventPage, ListOptions } from '../../../src/store/store.js'
import { lazyPage } from '../../../src/store-kit/lazy-event.js'
import type { ListQuery } from './list-query.js'
import type { Indexed } from './index-run.js'
import { listInTime } from './list-in-time.js'
import { listSorted } from './list-sorted.js'
import { rowToEvent, rowToLazyEvent } from '../schema/rows.js'
import { readPresent } from './scan.js'

/**
 * A page of the events that match. The newest are looked at one by one, as what is asked for is mostly
 * found among them; where few of them match, the index leads to the others. What no index can tell, or
 * is in none yet, is looked at row by row.
 */
export async function listEvents(
  indexed: Indexed,
  query: EventQuery,
  options: ListOptions,
): Promise<EventPage> {
  const { connection } = indexed.tables
  // What becomes visible from now on has a later time.
  const present = await connection.retry(() => readPresent(connection), options)
  const direction = scanDirection(query.sorts)
  const hasBounds = isBounded(query.where)
  const list: ListQuery = {
    indexed,
    query,
    filter: hasBounds ? undefined : indexFilter(query.where),
    // A scan gives nothing that is not within the bounds.
    matches: tracedFilter(
      options.trace,
      direction && hasBounds ? () => true : compileFilter(query.where),
    ),
    toEvent: options.lazy ? rowToLazyEvent : rowToEvent,
    present,
    options,
  }
  const { from, to } = timeBounds(query.where)
  const bounds = { from: Math.max(from, 0), to: Math.min(to, present.end) }
  return lazyPage(
    direction ? await listInTime(list, direction, bounds) : await listSorted(list, bounds),
  )
}

/** True where bounds on the time are all that the filter asks for. */
function isBounded(where: Grouping | undefined): boolean {
  if (!where) return true
  return (
    !isAlternative(where) &&
    where.conditions.every(setsTimeBound) &&
    where.groupings.every(isBounded)
  )
}
