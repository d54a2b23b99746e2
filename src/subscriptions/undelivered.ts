import type { Undelivered } from '../cleaning/task.js'
import { AuditLogError } from '../errors.js'
import { subtract } from '../event/duration.js'
import type { JsonObject } from '../event/event.js'
import { formatTimestamp, type Microseconds, parseTimestamp } from '../event/timestamp.js'
import { bothOf, type EventQuery, type Grouping, oneCondition } from '../filter/ast.js'
import type { CountsQuery } from '../store/counts.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { type AskRights, createRights } from './rights.js'
import { readAll, scanStates } from '../store/read-states.js'
import { type CursorState, PREFIX, type StoredSubscription } from './states.js'
import { parseFilter } from './subscription.js'

// Limit for each subscription that misses events. Beyond it, the count is a lower bound.
const COUNT_WITHIN_MS = 2000
const OLDEST_FIRST: EventQuery['sorts'] = [{ attribute: 'created_at', direction: 'asc' }]

interface Behind {
  readonly subscription: StoredSubscription
  readonly cursor: string
}

type Stored = ReadonlyMap<string, StoredSubscription>

/** The subscriptions that have not passed this time. */
async function readBehind(
  store: EventStore,
  subscriptions: Stored,
  before: Microseconds,
  options: WaitOptions,
): Promise<Behind[]> {
  const cursors = await readAll<CursorState>(store, PREFIX.cursor, options)
  const bound = formatTimestamp(before)
  return Array.from(subscriptions.values()).flatMap((subscription) => {
    const cursor = cursors.get(subscription.id)?.position
    return cursor !== undefined && cursor < bound ? [{ subscription, cursor }] : []
  })
}

/** The events that subscriptions still have to deliver, for cleaning. */
export function createUndelivered(store: EventStore, host: AskRights): Undelivered {
  const rights = createRights(host, () => {})
  /** Returns the filter of the subscription without unreadable parts, so it may match more events. */
  const filterOf = async ({ filter, owner }: StoredSubscription): Promise<Grouping | undefined> => {
    const owned = await rights.ask(owner)
    return bothOf(readFilter(filter), owned.error ? undefined : owned.where)
  }
  const readSubscriptions = (options: WaitOptions): Promise<Stored> =>
    readAll<StoredSubscription>(store, PREFIX.subscription, options)

  /** `created_at` of the first event that the subscription still has to deliver, or an earlier time. */
  const oldestUnsent = async (
    { subscription, cursor }: Behind,
    { signal }: WaitOptions,
  ): Promise<string | undefined> => {
    const filter = await filterOf(subscription)
    const where = bothOf(filter, oneCondition('created_at', 'gt', [cursor]))
    try {
      const { events } = await store.list({ where, sorts: OLDEST_FIRST, limit: 1 }, { signal })
      return events[0]?.created_at
    } catch (error) {
      if (!(error instanceof AuditLogError) || error.code !== 'QUERY_TIMEOUT') throw error
      return cursor
    }
  }

  return {
    async spareFrom(before, { now, signal }) {
      let from = before
      const subscriptions = await readSubscriptions({ signal })
      if (subscriptions.size === 0) return from
      const spare = ({ retain }: StoredSubscription, time: string | undefined): void => {
        const at = time === undefined ? undefined : parseTimestamp(time)
        if (at === undefined || retain === null) return
        if (at >= subtract(now, retain)) from = Math.min(from, at)
      }
      for (const one of await readBehind(store, subscriptions, before, { signal }))
        if (one.subscription.retain !== null)
          spare(one.subscription, await oldestUnsent(one, { signal }))
      for await (const [rest] of scanStates(store, PREFIX.parked, { signal })) {
        const [id, time] = [rest.slice(0, rest.indexOf(':')), rest.slice(rest.indexOf(':') + 1)]
        const subscription = subscriptions.get(id)
        if (subscription) spare(subscription, time)
      }
      return from
    },

    async lossesOf({ before, where }, { signal }) {
      const losses: JsonObject[] = []
      const subscriptions = await readSubscriptions({ signal })
      if (subscriptions.size === 0) return losses
      for (const { subscription, cursor } of await readBehind(store, subscriptions, before, {
        signal,
      })) {
        const { id, name, channel } = subscription
        const to = formatTimestamp(before)
        const range = bothOf(
          oneCondition('created_at', 'gt', [cursor]),
          oneCondition('created_at', 'lt', [to]),
        )
        const missed = bothOf(bothOf(await filterOf(subscription), where), range)
        const { total, exact } = await store.count(totalOf(missed), { signal })
        const loss = { from: cursor, to, missed_count: total, exact: exact.total }
        if (total > 0 || !exact.total)
          losses.push({ subscription: name, subscription_id: id, channel, ...loss })
      }
      return losses
    },
  }
}

const totalOf = (where: Grouping | undefined): CountsQuery => ({
  where,
  visible: undefined,
  buckets: undefined,
  facets: [],
  top: 1,
  attributes: false,
  within: COUNT_WITHIN_MS,
})

function readFilter(filter: string): Grouping | undefined {
  try {
    return parseFilter(filter)
  } catch {
    return undefined
  }
}
