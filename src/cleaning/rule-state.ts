import type { JsonValue } from '../event/event.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { isCurrent } from '../coordination/lease.js'
import { TIMES } from '../coordination/times.js'
import type { Microseconds } from '../event/timestamp.js'
import { type Schedule, nextTimeAfter } from './schedule.js'

/** The last run of a rule that ended, with or without an error. */
export interface LastRun {
  readonly startedAt: Microseconds
  readonly finishedAt: Microseconds
  readonly removedCount: number
  readonly error: string | undefined
}

/** A run that holds the lease. */
export interface LeasedRun {
  readonly holder: string
  readonly startedAt: Microseconds
  readonly expiresAt: Microseconds
  /** The number of removed events at the last renewal of the lease. */
  readonly removedCount: number
}

/** State of a rule that the processes on one store share. All times are of the store's clock. */
export interface RuleState {
  /** The next run is at the first time of the schedule after this. */
  readonly from?: Microseconds
  readonly lease?: LeasedRun
  readonly last?: LastRun
}

export interface RuleStatus {
  readonly running: boolean
  readonly last: LastRun | undefined
  /** `undefined` if the rule has no schedule. */
  readonly next: Microseconds | undefined
}

export const isHeld = (lease: LeasedRun | undefined, now: Microseconds): boolean =>
  lease !== undefined && isCurrent(lease.expiresAt, now, TIMES.cleaning.timeoutMs * 1000)

/**
 * Next time at which the rule is due. A new rule is due at once, or at the next time of day. After a run that did not
 * end, the rule is due at once.
 */
export function nextRunTime(
  { from, lease }: RuleState,
  schedule: Schedule,
  now: Microseconds,
): Microseconds {
  if (lease) return isHeld(lease, now) ? nextTimeAfter(schedule, lease.startedAt) : now
  if (from === undefined) return 'every' in schedule ? now : nextTimeAfter(schedule, now)
  // If `from` is in the future, the clock was set back.
  return Math.max(now, nextTimeAfter(schedule, Math.min(from, now)))
}

/** Changes the state atomically; `change` may be called more than once. */
export async function changeState(
  store: EventStore,
  name: string,
  change: (state: RuleState, now: Microseconds) => RuleState,
  options?: WaitOptions,
): Promise<void> {
  // Converts the value for `updateState`. Only `change` writes it.
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
    const next = schedule && nextRunTime(state, schedule, now)
    status = { running: isHeld(state.lease, now), last: state.last, next }
    return value
  }
  await store.updateState(keyOf(name), read, options)
  return status!
}

/** The current time of the store's clock. */
export async function storeTime(store: EventStore, options?: WaitOptions): Promise<Microseconds> {
  let time: Microseconds = 0
  const read = (value: JsonValue | undefined, now: Microseconds): JsonValue | undefined => {
    time = now
    return value
  }
  await store.updateState('cleaning', read, options)
  return time
}

/** The beginning of the keys of rules. */
export const RULE_PREFIX = 'cleaning:'

const keyOf = (name: string): string => RULE_PREFIX + name
