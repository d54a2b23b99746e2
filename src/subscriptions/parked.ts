import { AuditLogError } from '../errors.js'
import type { EventTypes } from '../event/event-types.js'
import type { Microseconds } from '../event/timestamp.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { type Channel, toDeliveryError } from './channel.js'
import { lastErrorOf } from './cursor.js'
import type { WaitForRate } from './rate.js'
import {
  changeStates,
  parkedKey,
  parkedPrefix,
  type ParkedState,
  readAll,
  scanStates,
} from './states.js'
import type { Subscription } from './subscription.js'

/** An event that could not be delivered and was set aside. */
export type Parked = ParkedState

export interface ParkedOptions extends WaitOptions {
  /** Return events after this `created_at`. */
  readonly after?: string | undefined
  /** @default 100 */
  readonly limit?: number | undefined
}

export interface Redriven {
  /** Accepted by the channel, and no longer parked. */
  readonly delivered: number
  /** Refused again, and still parked. */
  readonly failed: number
  /** Cleaned meanwhile, so they cannot be delivered. */
  readonly missed: number
}

const DEFAULT_LIMIT = 100

/** The parked events, oldest first. */
export async function readParked(
  store: EventStore,
  id: string,
  { after, limit = DEFAULT_LIMIT, signal }: ParkedOptions = {},
): Promise<readonly Parked[]> {
  if (!Number.isInteger(limit) || limit < 1)
    throw new AuditLogError('INVALID_OPTION', 'limit must be a whole number of at least 1')
  const found: Parked[] = []
  for await (const [, value] of scanStates<ParkedState>(store, parkedPrefix(id), {
    after,
    signal,
  })) {
    found.push(value)
    if (found.length === limit) break
  }
  return found
}

/** The chosen parked events: all, or those with these event ids. */
async function choose(
  store: EventStore,
  id: string,
  which: 'all' | readonly string[],
  options: WaitOptions,
): Promise<ParkedState[]> {
  const all = await readAll<ParkedState>(store, parkedPrefix(id), options)
  return Array.from(all.values()).filter(
    ({ event_id }) => which === 'all' || which.includes(event_id),
  )
}

/** Changes a parked event, unless it is no longer parked; without `change` it no longer is. */
async function setParked(
  store: EventStore,
  key: string,
  options: WaitOptions,
  change?: (now: Microseconds) => ParkedState,
): Promise<void> {
  await changeStates(
    store,
    [key],
    (states) => {
      if (states.get(key) !== undefined) states.set(key, change?.(states.now))
    },
    options,
  )
}

/** Forgets the chosen parked events; returns how many there were. */
export async function discardParked(
  store: EventStore,
  id: string,
  which: 'all' | readonly string[],
  options: WaitOptions = {},
): Promise<number> {
  const chosen = await choose(store, id, which, options)
  for (const one of chosen) await setParked(store, parkedKey(id, one.created_at), options)
  return chosen.length
}

/** Delivers the chosen parked events one by one, oldest first. */
export async function redriveParked(
  store: EventStore,
  { subscription, channel, types, waitForRate }: RedriveTarget,
  which: 'all' | readonly string[],
  { signal = new AbortController().signal }: WaitOptions = {},
): Promise<Redriven> {
  const { id } = subscription
  const counts = { delivered: 0, failed: 0, missed: 0 }
  for (const one of await choose(store, id, which, { signal })) {
    const event = await store.get(one.event_id, { signal })
    if (!event) {
      counts.missed += 1
      await setParked(store, parkedKey(id, one.created_at), { signal })
      continue
    }
    await waitForRate(signal)
    const attempts = one.attempts + 1
    try {
      await channel.deliver([event], {
        id: event.id,
        subscription,
        attempt: attempts,
        types,
        signal,
      })
    } catch (thrown) {
      const { message, kind, status } = toDeliveryError(thrown)
      counts.failed += 1
      await setParked(store, parkedKey(id, one.created_at), { signal }, (now) => ({
        ...one,
        attempts,
        error: message,
        last_error: lastErrorOf({ kind, status }, now),
      }))
      continue
    }
    counts.delivered += 1
    await setParked(store, parkedKey(id, one.created_at), { signal })
  }
  return counts
}

export interface RedriveTarget {
  readonly subscription: Subscription
  readonly channel: Channel
  readonly types: EventTypes
  readonly waitForRate: WaitForRate
}
