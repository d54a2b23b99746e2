import { bothOf, oneCondition } from '../filter/ast.js'
import { timeBounds } from '../filter/bounds.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import type { CountsQuery } from '../store/counts.js'

/** Later than all events. */
const NEVER = '9999-12-31T23:59:59.999999Z'

/**
 * The query with a beginning where it has none: buckets begin with the oldest event then, which for who
 * sees a part of the log is the oldest of that part.
 */
export async function fromFirstVisible(
  store: Pick<EventStore, 'list'>,
  query: CountsQuery,
  options: WaitOptions,
): Promise<CountsQuery> {
  const { where, visible, buckets } = query
  const isOpen = timeBounds(bothOf(visible, where)).from === -Infinity
  if (!visible || !buckets || !isOpen) return query
  const { events } = await store.list(
    { where: visible, sorts: [{ attribute: 'created_at', direction: 'asc' }], limit: 1 },
    { ...options, lazy: true },
  )
  const beginning = oneCondition('created_at', 'gteq', [events[0]?.created_at ?? NEVER])
  return { ...query, visible: bothOf(visible, beginning) }
}
