import { type Backoff, backoffMs } from '../async/backoff.js'
import { formatTimestamp, type Microseconds, MINUTE } from '../event/timestamp.js'
import type { DeliveryError } from './channel.js'
import type { CursorState, FailureState, LastError } from './states.js'

/*
 * Moves of a cursor. These functions only compute. The deliverer performs the returned actions and stores the cursor.
 */

const RETRIES: Backoff = { firstMs: 1000, maxMs: 15 * 60_000 }
const MAX_RETRY_AFTER: Microseconds = 24 * 60 * MINUTE

/** Number of attempts for an event that the receiver refuses permanently. */
const PERMANENT_ATTEMPTS = 3
/**
 * From this number of attempts on, and after the time below, the next event is tried, too. This shows whether the
 * receiver or the event is at fault.
 */
const PROBE_ATTEMPTS = 10
const PROBE_AFTER: Microseconds = 10 * MINUTE

const PERMANENT_STATUSES: ReadonlySet<number | undefined> = new Set([400, 413, 415, 422])

/** True if trying again cannot help. */
export const isPermanent = ({ permanent, status }: DeliveryError): boolean =>
  permanent || PERMANENT_STATUSES.has(status)

export interface FailedBatch {
  /** `created_at` of the events, in order. */
  readonly times: readonly string[]
  readonly error: DeliveryError
  readonly whenStuck: 'park' | 'hold'
  readonly now: Microseconds
  /** A random number from 0 to 1. */
  readonly random: number
}

/**
 * The action after a failure. `retry`: try the same events again. `halve`: try the first half of them at once.
 * `probe`: try the next event, then the same events again. `park`: set the only event aside.
 */
export interface AfterFailure {
  readonly action: 'retry' | 'halve' | 'probe' | 'park'
  readonly cursor: CursorState
}

export const lastErrorOf = (
  { kind, status }: Pick<DeliveryError, 'kind' | 'status'>,
  now: Microseconds,
): LastError => ({ at: formatTimestamp(now), kind, ...(status !== undefined && { status }) })

/** The cursor after all events up to `upTo` were delivered. */
export function afterDelivery(cursor: CursorState, upTo: string, count: number): CursorState {
  const { failure: _, ...rest } = cursor
  return movedTo({ ...rest, delivered: cursor.delivered + count }, upTo)
}

/** The cursor after the events of the failed batch up to `upTo` were parked or removed. */
export function afterParking(cursor: CursorState, upTo: string): CursorState {
  const { failure: _, ...rest } = cursor
  return movedTo(rest, upTo)
}

/** The cursor of a disabled channel. Events that were to be retried will be skipped. */
export function withoutFailure(cursor: CursorState): CursorState {
  const { failure: _, suspectUntil: __, ...rest } = cursor
  return rest
}

/** The cursor after the events from `first` to `upTo` have passed without being delivered. */
export const afterSkipping = (
  cursor: CursorState,
  { first, upTo, count }: { first: string; upTo: string; count: number },
): CursorState => ({
  ...withoutFailure(cursor),
  position: upTo,
  skipped: (cursor.skipped ?? 0) + count,
  skippedSince: cursor.skippedSince ?? first,
})

/** The cursor of a replay. Skipped events before the start of the replay stay skipped. */
export function atReplay(
  { delivered, skipped, skippedSince }: CursorState,
  generation: number,
  upTo: string,
): CursorState {
  const cursor = { generation, position: upTo, delivered }
  if (skipped === undefined || skippedSince === undefined || upTo < skippedSince) return cursor
  return { ...cursor, skipped, skippedSince }
}

function movedTo(cursor: CursorState, upTo: string): CursorState {
  const { suspectUntil, ...rest } = cursor
  const isSuspect = suspectUntil !== undefined && upTo < suspectUntil
  return { ...rest, position: upTo, ...(isSuspect && { suspectUntil }) }
}

export function afterFailure(cursor: CursorState, batch: FailedBatch): AfterFailure {
  const { times, error, whenStuck, now } = batch
  const lastError = lastErrorOf(error, now)
  const since = cursor.failure?.since ?? now
  const attempts = (cursor.failure?.attempts ?? 0) + 1
  const isForGood = isPermanent(error)
  const isSuspect = cursor.suspectUntil !== undefined
  if (times.length > 1 && (isForGood || isSuspect)) {
    const failure = { boundary: middleOf(times), attempts: 0, since, nextAttempt: now }
    return { action: 'halve', cursor: { ...cursor, failure, lastError } }
  }
  const failure: FailureState = {
    boundary: times.at(-1)!,
    attempts,
    since,
    nextAttempt: now + delayOf(attempts, batch),
  }
  const next = { ...cursor, failure, lastError }
  if (whenStuck === 'hold') return { action: 'retry', cursor: next }
  if (isForGood) return { action: attempts >= PERMANENT_ATTEMPTS ? 'park' : 'retry', cursor: next }
  const isDue = attempts >= PROBE_ATTEMPTS && now - since >= PROBE_AFTER
  const isProbed = isDue || (isSuspect && attempts >= PERMANENT_ATTEMPTS)
  return { action: isProbed ? 'probe' : 'retry', cursor: next }
}

/**
 * Time to wait for the next attempt. If it is longer than any delay, the clock was set back, and the attempt is due.
 */
export function untilNextAttempt({ nextAttempt }: FailureState, now: Microseconds): Microseconds {
  const wait = nextAttempt - now
  return wait > MAX_RETRY_AFTER ? 0 : wait
}

/**
 * The action after the next event was accepted. This shows that an event of the batch is at fault. A single event is
 * parked; several events are halved.
 */
export function afterAcceptedProbe(cursor: CursorState, times: readonly string[]): AfterFailure {
  if (times.length === 1) return { action: 'park', cursor }
  const { since, nextAttempt: _, ...failure } = cursor.failure!
  return {
    action: 'halve',
    cursor: {
      ...cursor,
      suspectUntil: times.at(-1)!,
      failure: { ...failure, since, boundary: middleOf(times), attempts: 0, nextAttempt: 0 },
    },
  }
}

/** The cursor after the receiver also refused the next event. This is an outage, and no event is at fault. */
export function afterRefusedProbe(cursor: CursorState): CursorState {
  const { suspectUntil: _, ...rest } = cursor
  return rest
}

const middleOf = (times: readonly string[]): string => times[Math.ceil(times.length / 2) - 1]!

/**
 * The delay doubles with each attempt. A random factor from 0.5 to 1.5 keeps subscriptions from trying all at once.
 */
function delayOf(attempts: number, { error, random }: FailedBatch): Microseconds {
  const delay: Microseconds = backoffMs(attempts - 1, RETRIES) * 1000
  const asked = Math.min((error.retryAfterMs ?? 0) * 1000, MAX_RETRY_AFTER)
  return Math.round(Math.max(delay * (0.5 + random), asked))
}
