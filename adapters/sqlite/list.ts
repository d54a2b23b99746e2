import { tracedFilter } from '../../src/explaining/trace.js'
import type { EventQuery } from '../../src/filter/ast.js'
import { timeBounds } from '../../src/filter/bounds.js'
import { compileFilter } from '../../src/filter/evaluate.js'
import { scanDirection } from '../../src/filter/order.js'
import { indexFilter } from '../../src/indexing/index-filter.js'
import type { EventPage, ListOptions } from '../../src/store.js'
import { unreadPage } from '../../src/unread-event.js'
import type { Answer } from './answer.js'
import type { Indexed } from './index-run.js'
import { listInTime } from './list-in-time.js'
import { listSorted } from './list-sorted.js'
import { rowToEvent, rowToUnread } from './rows.js'

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
  const { connection, events } = indexed.tables
  const answer: Answer = {
    indexed,
    query,
    filter: indexFilter(query.where),
    matches: tracedFilter(options.trace, compileFilter(query.where)),
    toEvent: options.lazy ? rowToUnread : rowToEvent,
    options,
  }
  const { from, to } = timeBounds(query.where)
  // What becomes visible from now on has a later time.
  const end = await connection.retry(() => events.highWater(), options)
  const bounds = { from: Math.max(from, 0), to: Math.min(to, end) }
  const direction = scanDirection(query.sorts)
  return unreadPage(
    direction ? await listInTime(answer, direction, bounds) : await listSorted(answer, bounds),
  )
}
