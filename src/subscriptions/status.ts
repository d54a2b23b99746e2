import { oneCondition } from '../filter/ast.js'
import { newestTime } from '../tail/poll.js'
import { formatTimestamp, parseTimestamp } from '../event/timestamp.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { readPeers } from './peers.js'
import {
  type CursorState,
  type LastError,
  PREFIX,
  readAll,
  scanStates,
  type StoredSubscription,
} from './states.js'
import { parseFilter } from './subscription.js'

export interface SubscriptionStatus {
  readonly id: string
  readonly name: string
  readonly channel: string
  /**
   * `live`: at most 10 seconds behind the newest event. `failing`: the last attempt failed and is repeated.
   * `broken`: the filter cannot be read. `unowned`: no running process has the channel in its code.
   */
  readonly state: 'live' | 'catching_up' | 'failing' | 'paused' | 'broken' | 'unowned'
  /** Every matching event up to this `created_at` is delivered or parked. As of at most 5 seconds ago. */
  readonly position: string
  /** Time from the position to the newest event of the log. */
  readonly lag_ms: number
  /** Number of events delivered since the subscription was made. */
  readonly delivered: number
  /** Failed attempts of the batch that is tried now; 0 if it has not failed. */
  readonly attempts: number
  readonly next_attempt_at: string | null
  readonly failing_since: string | null
  /** The last failure, also if it is over. */
  readonly last_error: LastError | null
  readonly parked: number
}

const LIVE_MS = 10_000

/** `created_at` of the oldest event. */
async function oldestTime(store: EventStore, options: WaitOptions): Promise<string | undefined> {
  const sorts = [{ attribute: 'created_at', direction: 'asc' }] as const
  const page = await store.list(
    { where: oneCondition('created_at', 'not_null', []), sorts, limit: 1 },
    options,
  )
  return page.events[0]?.created_at
}

export interface StatusOptions extends WaitOptions {
  /** The cursors that this process moves. */
  readonly cursorOf: (id: string) => CursorState | undefined
}

export async function readStatus(
  store: EventStore,
  { cursorOf, signal }: StatusOptions,
): Promise<readonly SubscriptionStatus[]> {
  const subscriptions = await readAll<StoredSubscription>(store, PREFIX.subscription, { signal })
  if (subscriptions.size === 0) return []
  const cursors = await readAll<CursorState>(store, PREFIX.cursor, { signal })
  const peers = await readPeers(store, signal)
  const parked = await countParked(store, signal)
  const newest = await newestTime(store, { signal })
  const oldest = await oldestTime(store, { signal })
  const channels = new Set(Array.from(peers.deliverers.values()).flatMap((one) => one.channels))
  const statuses = Array.from(subscriptions.values(), (subscription) => {
    const { id, name, channel } = subscription
    const cursor = cursorOf(id) ?? cursors.get(id)
    if (!cursor) return undefined
    const { position, delivered, failure, lastError } = cursor
    const lag_ms = lagOf(position, oldest, newest)
    const status: SubscriptionStatus = {
      id,
      name,
      channel,
      state: stateOf(subscription, cursor, lag_ms, channels),
      position,
      lag_ms,
      delivered,
      attempts: failure?.attempts ?? 0,
      next_attempt_at: failure ? formatTimestamp(failure.nextAttempt) : null,
      failing_since: failure ? formatTimestamp(failure.since) : null,
      last_error: lastError ?? null,
      parked: parked.get(id) ?? 0,
    }
    return status
  })
  return statuses
    .filter((status) => status !== undefined)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function stateOf(
  { paused, filter, channel }: StoredSubscription,
  { failure }: CursorState,
  lagMs: number,
  channels: ReadonlySet<string>,
): SubscriptionStatus['state'] {
  if (paused) return 'paused'
  if (!canRead(filter)) return 'broken'
  if (!channels.has(channel)) return 'unowned'
  if (failure) return 'failing'
  return lagMs <= LIVE_MS ? 'live' : 'catching_up'
}

function canRead(filter: string): boolean {
  try {
    parseFilter(filter)
    return true
  } catch {
    return false
  }
}

/** A position before the oldest event lags as if it were there. */
function lagOf(position: string, oldest: string | undefined, newest: string | undefined): number {
  if (newest === undefined || oldest === undefined || position >= newest) return 0
  const from = parseTimestamp(position < oldest ? oldest : position)!
  return Math.floor((parseTimestamp(newest)! - from) / 1000)
}

/** How many events each subscription has parked. */
async function countParked(
  store: EventStore,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for await (const [rest] of scanStates(store, PREFIX.parked, { signal })) {
    const id = rest.slice(0, rest.indexOf(':'))
    counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  return counts
}
