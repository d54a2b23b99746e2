import { AuditLogError } from '../errors.js'
import { MAX_LIMIT, oneCondition } from '../filter/ast.js'
import type { EventStore, ReadOptions, WaitOptions } from '../store/store.js'
import { type Ring, type RingEntry, rewound } from './ring.js'

/*
 * After a failover, the old primary may continue if nothing fences it. Its followers then read events that the log
 * later loses. Their cursor is later than events of the new primary that they do not have. Such a follower goes back
 * to the last event that both servers have. The log has lost all events that were read after it, so no event is read
 * twice.
 */

/** True if the log never reached the token of a read. */
export const isNotReached = (error: unknown): boolean =>
  error instanceof AuditLogError && error.code === 'NOT_REACHED'

/** True if the log has lost the event at the cursor, and has no event that is as new. */
export async function isBehind(
  store: EventStore,
  cursor: string,
  { signal }: WaitOptions,
): Promise<boolean> {
  try {
    // A replica that lags does not answer this query.
    const query = { where: undefined, sorts: [], limit: 1 }
    await store.list(query, { signal, consistencyToken: cursor })
    return false
  } catch (error) {
    if (!isNotReached(error)) throw error
    return true
  }
}

/** The `created_at` of the newest event of the ring that the store has; the floor of the ring if it has none. */
export async function forkCursor(
  store: EventStore,
  ring: Ring,
  { signal }: WaitOptions,
): Promise<string> {
  const consistencyToken = await store.consistencyToken?.({ signal })
  const entries = ring.batches().flatMap((batch) => batch.entries)
  for (let end = entries.length; end > 0; end -= MAX_LIMIT) {
    const some = entries.slice(Math.max(end - MAX_LIMIT, 0), end)
    const common = await newestCommon(store, some, { signal, consistencyToken })
    if (common) return common.event.created_at
  }
  return ring.floor
}

async function newestCommon(
  store: EventStore,
  entries: readonly RingEntry[],
  options: ReadOptions,
): Promise<RingEntry | undefined> {
  const times = entries.map(({ event }) => event.created_at)
  const where = oneCondition('created_at', 'in', times)
  const { events } = await store.list({ where, sorts: [], limit: MAX_LIMIT }, options)
  const ids = new Set(events.map(({ id }) => id))
  return entries.findLast(({ event }) => ids.has(event.id))
}

/** The cursor, or, if the log has lost the event there, the earlier cursor to which the ring went back. */
export async function startInRing(
  store: EventStore,
  ring: Ring,
  cursor: string,
  options: ReadOptions,
): Promise<string> {
  const before = ring.rewinds().reduce(rewound, cursor)
  if (before === cursor) return cursor
  const where = oneCondition('created_at', 'eq', [cursor])
  const { events } = await store.list({ where, sorts: [], limit: 1 }, options)
  return events.length > 0 ? cursor : before
}
