import type { JsonValue } from '../event/event.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import type { Microseconds } from '../event/timestamp.js'
import { type Schedule, turnAfter } from './schedule.js'

/** The last run of a rule that came to its end, well or not. */
export interface LastRun {
  readonly startedAt: Microseconds
  readonly finishedAt: Microseconds
  readonly removedCount: number
  readonly error: string | undefined
}

/** A run that goes on, as far as the others know. */
export interface LeasedRun {
  readonly holder: string
  readonly startedAt: Microseconds
  readonly expiresAt: Microseconds
  /** How many it had removed when the lease was renewed last. */
  readonly removedCount: number
}

/** What the processes on one store share of a rule. All times are the store's. */
export interface RuleState {
  /** The rule's next turn is the first one after this. */
  readonly from?: Microseconds
  readonly lease?: LeasedRun
  readonly last?: LastRun
}

export interface RuleStatus {
  readonly running: boolean
  readonly last: LastRun | undefined
  /** `undefined` where the rule has no schedule. */
  readonly next: Microseconds | undefined
}

/** How long a lease goes without being renewed. */
export const LEASE_MS = 30_000

/** False also of one that goes on for longer than any lease: the clock was set back since. */
export function isHeld(lease: LeasedRun | undefined, now: Microseconds): lease is LeasedRun {
  return lease !== undefined && lease.expiresAt > now && lease.expiresAt <= now + LEASE_MS * 1000
}

/**
 * When the rule is to run. One that has never been seen has its turn at once, or at the next time of
 * day; a run that was not finished begins again.
 */
export function nextTurn(
  { from, lease }: RuleState,
  schedule: Schedule,
  now: Microseconds,
): Microseconds {
  if (lease) return isHeld(lease, now) ? turnAfter(schedule, lease.startedAt) : now
  if (from === undefined) return 'every' in schedule ? now : turnAfter(schedule, now)
  // A time that has not come yet says that the clock was set back.
  return Math.max(now, turnAfter(schedule, Math.min(from, now)))
}

/** Changes what the processes share of the rule: atomic; `change` may be called more than once. */
export async function changeState(
  store: EventStore,
  name: string,
  change: (state: RuleState, now: Microseconds) => RuleState,
  options?: WaitOptions,
): Promise<void> {
  // What is there was put there by `change`.
  const changeValue = (value: JsonValue | undefined, now: Microseconds): JsonValue =>
    change((value ?? {}) as unknown as RuleState, now) as unknown as JsonValue
  await store.updateState(keyOf(name), changeValue, options)
}

export async function readStatus(
  store: EventStore,
  name: string,
  schedule: Schedule | undefined,
  options?: WaitOptions,
): Promise<RuleStatus> {
  let status: RuleStatus | undefined
  const read = (value: JsonValue | undefined, now: Microseconds): JsonValue | undefined => {
    const state = (value ?? {}) as unknown as RuleState
    const next = schedule && nextTurn(state, schedule, now)
    status = { running: isHeld(state.lease, now), last: state.last, next }
    return value
  }
  await store.updateState(keyOf(name), read, options)
  return status!
}

/** The present time by the store's clock. */
export async function storeTime(store: EventStore, options?: WaitOptions): Promise<Microseconds> {
  let time: Microseconds = 0
  const read = (value: JsonValue | undefined, now: Microseconds): JsonValue | undefined => {
    time = now
    return value
  }
  await store.updateState('cleaning', read, options)
  return time
}

const keyOf = (name: string): string => `cleaning:${name}`
