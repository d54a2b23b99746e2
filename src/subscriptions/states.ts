import type { JsonObject, JsonValue } from '../event/event.js'
import type { Microseconds } from '../event/timestamp.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import type { DeliveryFault } from './channel.js'
import type { Subscription } from './subscription.js'

/*
 * State that the processes on one store share. Each value has a separate key, so that a checkpoint writes only the
 * moved cursors. All times are of the store's clock.
 */

/** A running process. It expires unless the process renews it. */
export interface DelivererState {
  /** Counts the renewals, because an unchanged value is not written. */
  readonly renewals: number
  /** The channels in the code of the process, and the channels of its kinds. */
  readonly channels: readonly OfferedChannel[]
}

/** A channel that a process has the code for. */
export interface OfferedChannel {
  readonly name: string
  readonly kind: string
  readonly in_code: boolean
  /** True if the process cannot deliver to the channel, for example because it has no key for the secrets. */
  readonly broken?: true
}

/** A channel that was created at run time, or a disabled channel in code. */
export interface ChannelState {
  readonly name: string
  readonly kind: string
  readonly config: JsonObject
  /** The secrets, encrypted; absent without secrets. */
  readonly sealed?: string | undefined
  readonly enabled: boolean
  readonly disabled_reason: string | null
  readonly in_code: boolean
  /** The user who created the channel, for the limit of each user; null if no user did. */
  readonly created_by?: string | null | undefined
}

/** The process that delivers to a channel. */
export interface LeaseState {
  /** null if the holder has given the channel up. */
  readonly holder: string | null
  /** Increases with each holder. A holder writes only while the stored epoch is its own. */
  readonly epoch: number
}

export interface LastError {
  readonly at: string
  readonly kind: DeliveryFault
  readonly status?: number
}

/** A failed batch that is tried again. */
export interface FailureState {
  /** `created_at` of the last event of the batch, so that each attempt has the same events. */
  readonly boundary: string
  /** Number of failed attempts of this batch. */
  readonly attempts: number
  /** The first failure after the last success. */
  readonly since: Microseconds
  readonly nextAttempt: Microseconds
}

/** Progress of the deliveries of a subscription. */
export interface CursorState {
  /** Increases when something else than a delivery moves the cursor. The deliverer then reads it again. */
  readonly generation: number
  /** Every matching event up to this `created_at` is delivered or parked. Stored logs have this member name. */
  readonly position: string
  /** Number of events delivered since the subscription began. */
  readonly delivered: number
  readonly failure?: FailureState
  /** The receiver accepts other events, so an event up to this `created_at` is the reason of the failure. */
  readonly suspectUntil?: string
  readonly lastError?: LastError
  /** Number of events that passed while the channel was disabled. */
  readonly skipped?: number
  /** `created_at` of the first of them. */
  readonly skippedSince?: string
  /** Nothing is delivered, because the filter or the rights of the owner cannot be read. */
  readonly broken?: true
}

/** An event that could not be delivered. */
export interface ParkedState {
  readonly event_id: string
  readonly created_at: string
  readonly parked_at: string
  readonly attempts: number
  readonly error: string
  readonly last_error: LastError
}

/**
 * Number of parked events of a subscription, so that counting need not read them. Changes in the same transaction as
 * these events.
 */
export interface ParkedCountState {
  readonly count: number
}

/**
 * Increases with each change of a subscription or channel. So processes detect changes without reading all of them.
 */
export interface RevisionState {
  readonly revision: number
}

export const REVISION = 'subscriptions'

export const PREFIX = {
  subscription: 'subscription:',
  channel: 'channel:',
  cursor: 'cursor:',
  lease: 'lease:',
  deliverer: 'deliverer:',
  parked: 'parked:',
  parkedCount: 'parked_count:',
} as const

export const keyOf = (kind: keyof typeof PREFIX, name: string): string => PREFIX[kind] + name
export const parkedPrefix = (id: string): string => `${PREFIX.parked}${id}:`
export const parkedKey = (id: string, created_at: string): string => parkedPrefix(id) + created_at

/** New values of some keys, written in one transaction. Other keys keep their values. */
export interface StateChange {
  get(key: string): unknown
  /** `undefined` removes the key. */
  set(key: string, value: object | undefined): void
  readonly now: Microseconds
}

/** Changes values atomically. `change` may be called more than once, and must not throw. */
export async function changeStates(
  store: EventStore,
  keys: readonly string[],
  change: (states: StateChange) => void,
  options?: WaitOptions,
): Promise<void> {
  await store.updateStates(
    keys,
    (values, now) => {
      const next = new Map<string, JsonValue | undefined>()
      change({
        get: (key) => values.get(key),
        set: (key, value) => void next.set(key, withoutUndefined(value)),
        now,
      })
      return next
    },
    options,
  )
}

/** JSON has no `undefined`, so members with this value are left out. */
function withoutUndefined(value: object | undefined): JsonObject | undefined {
  if (value === undefined) return undefined
  const members = Object.entries(value) as [string, JsonValue | undefined][]
  return Object.fromEntries(
    members.filter((member): member is [string, JsonValue] => member[1] !== undefined),
  )
}

/**
 * Adds to the number of parked events of a subscription. The change needs `keyOf('parkedCount', id)` among its keys.
 */
export function addToParkedCount(states: StateChange, id: string, added: number): void {
  const key = keyOf('parkedCount', id)
  const present = (states.get(key) as ParkedCountState | undefined)?.count ?? 0
  const count = Math.max(0, present + added)
  states.set(key, count === 0 ? undefined : { count })
}

/** A subscription as it is stored. */
export interface StoredSubscription extends Subscription {
  /** Increases when the cursor is put elsewhere; the cursor has the same `generation`. */
  readonly generation: number
}

/** The subscription without the members that are only stored. */
export function publicSubscription(stored: StoredSubscription): Subscription {
  const { generation: _, ...subscription } = stored
  return subscription
}
