import { bothOf, oneCondition } from '../filter/ast.js'
import { timeBounds } from '../filter/bounds.js'
import type { EventStore, ReadOptions } from '../store/store.js'
import type { CountsQuery } from '../store/counts.js'

/** Later than any event. */
const NEVER = '9999-12-31T23:59:59.999999Z'

/**
 * Adds a lower time bound for readers that see only part of the log. Without a bound, buckets start at the oldest
 * event. For these readers, they start at the oldest visible event.
 */
export async function fromFirstVisible(
  store: Pick<EventStore, 'list'>,
  query: CountsQuery,
  options: ReadOptions,
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
