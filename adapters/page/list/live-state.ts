import { signal } from '@preact/signals'
import type { AuditEvent } from '../../../src/event/event.js'

/** State of live updates: `live` if new events are added automatically, else the reason why not. */
export type LiveState =
  | 'live'
  | 'held'
  | 'paused'
  | 'offline'
  | 'stopped'
  | 'fixed'
  | 'sorted'
  | 'long'

export interface Situation {
  /** The query is invalid, or the server refused it. */
  readonly isRefused: boolean
  /** The order is not newest first. */
  readonly isSorted: boolean
  /** The query is too long for a stream. */
  readonly isTooLong: boolean
  /** The end of the range; `undefined` if open. */
  readonly to: string | undefined
  readonly isPaused: boolean
  readonly isOffline: boolean
  /** The user is reading, so rows must not move. */
  readonly isReading: boolean
}

const STATES: readonly (readonly [LiveState, (situation: Situation, now: Date) => boolean])[] = [
  ['stopped', ({ isRefused }) => isRefused],
  ['sorted', ({ isSorted }) => isSorted],
  ['long', ({ isTooLong }) => isTooLong],
  ['fixed', ({ to }, now) => to !== undefined && new Date(to) <= now],
  ['paused', ({ isPaused }) => isPaused],
  ['offline', ({ isOffline }) => isOffline],
  ['held', ({ isReading }) => isReading],
]

/** The first state that applies, in the order above, else `live`. */
export function liveStateIn(situation: Situation, now: Date): LiveState {
  return STATES.find(([, holds]) => holds(situation, now))?.[0] ?? 'live'
}

/** True if a stream of new events is open in this state. */
export const isFollowed = (state: LiveState): boolean =>
  !/^(?:stopped|sorted|long|fixed)$/.test(state)

/** New events that are not in the list yet. */
export interface Waiting {
  /** Newest first; empty if there are more than {@link MAX_WAITING_EVENTS}. */
  readonly events: readonly AuditEvent[]
  readonly count: number
}

export const NONE_WAITING: Waiting = { events: [], count: 0 }

export const waiting = signal(NONE_WAITING)

/** Beyond this number only a count is kept, and showing them reloads the list. */
export const MAX_WAITING_EVENTS = 1000

export function withWaiting(waiting: Waiting, events: readonly AuditEvent[]): Waiting {
  const count = waiting.count + events.length
  return { events: count > MAX_WAITING_EVENTS ? [] : [...events, ...waiting.events], count }
}

/** The events that still wait once the list includes all events up to a time. */
export function waitingSince(waiting: Waiting, time: string | undefined): Waiting {
  const events = waiting.events.filter(({ created_at }) => time === undefined || created_at > time)
  // Beyond the maximum, only the number of waiting events is kept, until the list is reloaded.
  return events.length === waiting.events.length ? waiting : { events, count: events.length }
}

const MAX_RETRY_DELAY_S = 30

/** Seconds to wait before reconnecting; `attempt` starts at 0. */
export const retryDelay = (attempt: number): number =>
  Math.min(MAX_RETRY_DELAY_S, 2 ** (attempt + 1))
