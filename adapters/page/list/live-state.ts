import type { AuditEvent } from '../../../src/event/event.js'

/** Whether new events come in by themselves, and if not, why. */
export type LiveState = 'live' | 'held' | 'paused' | 'offline' | 'stopped' | 'fixed' | 'sorted'

export interface Situation {
  /** The query cannot be read, or may not be asked. */
  readonly isRefused: boolean
  /** The order is another than newest first. */
  readonly isSorted: boolean
  /** The end of the range, if it has one. */
  readonly to: string | undefined
  readonly isPaused: boolean
  readonly isOffline: boolean
  /** Somebody reads: nothing may move. */
  readonly isReading: boolean
}

const STATES: readonly (readonly [LiveState, (situation: Situation, now: Date) => boolean])[] = [
  ['stopped', ({ isRefused }) => isRefused],
  ['sorted', ({ isSorted }) => isSorted],
  ['fixed', ({ to }, now) => to !== undefined && new Date(to) <= now],
  ['paused', ({ isPaused }) => isPaused],
  ['offline', ({ isOffline }) => isOffline],
  ['held', ({ isReading }) => isReading],
]

/** The first reason against coming in live counts. */
export function liveStateIn(situation: Situation, now: Date): LiveState {
  return STATES.find(([, holds]) => holds(situation, now))?.[0] ?? 'live'
}

/** Whether new events are waited for at all. */
export const isFollowed = (state: LiveState): boolean =>
  state !== 'stopped' && state !== 'sorted' && state !== 'fixed'

/** New events that are not in the list yet. */
export interface Waiting {
  /** Newest first; empty where there are more than are kept. */
  readonly events: readonly AuditEvent[]
  readonly count: number
}

export const NONE_WAITING: Waiting = { events: [], count: 0 }

/** More than that are not kept: the list is loaded anew to show them. */
export const MAX_WAITING = 1000

export function withWaiting(waiting: Waiting, events: readonly AuditEvent[]): Waiting {
  const count = waiting.count + events.length
  return { events: count > MAX_WAITING ? [] : [...events, ...waiting.events], count }
}

/** What still waits once the list holds all up to a time. */
export function waitingSince(waiting: Waiting, time: string | undefined): Waiting {
  const events = waiting.events.filter(({ created_at }) => time === undefined || created_at > time)
  // None are kept of too many: only loading the list anew shows those.
  return events.length === waiting.events.length ? waiting : { events, count: events.length }
}

const LONGEST_S = 30

/** Seconds until the next try to reach the server again, the first being 0. */
export const retryDelay = (attempt: number): number => Math.min(LONGEST_S, 2 ** (attempt + 1))
