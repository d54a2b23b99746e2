import { AuditLogError } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import { bothOf, type EventQuery, MAX_LIMIT, oneCondition, type Sort } from '../filter/ast.js'
import { scanDirection } from '../filter/order.js'
import type { EventPage } from './store.js'

/** The direction of pages in this order. Throws `INVALID_VALUE` unless the order is by `created_at`. */
export function pagesDirection(sorts: readonly Sort[]): 'asc' | 'desc' {
  const direction = scanDirection(sorts)
  if (direction) return direction
  const message = 'filter[sorts]: pages run along created_at; use list for another order'
  throw new AuditLogError('INVALID_VALUE', message, { parameter: 'filter[sorts]' })
}

/** All matching events of a log in pages of at most 1000. */
export async function* pagesOf(
  list: (query: EventQuery) => Promise<EventPage>,
  { where, sorts }: EventQuery,
): AsyncGenerator<readonly AuditEvent[], void, void> {
  const direction = pagesDirection(sorts)
  let bound: EventQuery['where']
  for (;;) {
    const page = await list({ where: bothOf(where, bound), sorts, limit: MAX_LIMIT })
    if (page.events.length > 0) yield page.events
    if (!page.truncated) return
    const last = sorts.length === 0 ? page.events[0]! : page.events.at(-1)!
    bound = oneCondition('created_at', direction === 'desc' ? 'lt' : 'gt', [last.created_at])
  }
}
