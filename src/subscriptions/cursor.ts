import { type Backoff, backoffMs } from '../async/backoff.js'
import { formatTimestamp, type Microseconds, MINUTE } from '../event/timestamp.js'
import type { DeliveryError } from './channel.js'
import type { CursorState, FailureState, LastError } from './states.js'

/*
 * Moves of a cursor. These functions only compute: the deliverer does the actions that they return, and stores the cursor.
 */

const RETRIES: Backoff = { firstMs: 1000, maxMs: 15 * 60_000 }
const MAX_RETRY_AFTER: Microseconds = 24 * 60 * MINUTE

/** How often one event is tried that the receiver refuses for good. */
const PERMANENT_ATTEMPTS = 3
/** From here on the next event is tried too, to know whether the receiver or the event is at fault. */
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
  /** From 0 to 1. */
  readonly random: number
}

/**
 * The action after a failure: the same events again, at once half of them, the next event as a probe before the same
 * again, or, for a single event, parking it.
 */
export interface AfterFailure {
  readonly action: 'retry' | 'halve' | 'probe' | 'park'
  readonly cursor: CursorState
}

export const lastErrorOf = (
  { kind, status }: Pick<DeliveryError, 'kind' | 'status'>,
  now: Microseconds,
): LastError => ({ at: formatTimestamp(now), kind, ...(status !== undefined && { status }) })

/** All events up to `upTo` are delivered. */
export function afterDelivery(cursor: CursorState, upTo: string, count: number): CursorState {
  const { failure: _, ...rest } = cursor
  return movedTo({ ...rest, delivered: cursor.delivered + count }, upTo)
}

/** The first events of the batch that `failure` bounds are parked or gone; all up to `upTo` are done. */
export function afterParking(cursor: CursorState, upTo: string): CursorState {
  const { failure: _, ...rest } = cursor
  return movedTo(rest, upTo)
}

/** The channel is disabled: events that were to be tried again will pass. */
export function withoutFailure(cursor: CursorState): CursorState {
  const { failure: _, suspectUntil: __, ...rest } = cursor
  return rest
}

/** The events from `first` to `upTo` have passed without being delivered. */
export const afterSkipping = (
  cursor: CursorState,
  { first, upTo, count }: { first: string; upTo: string; count: number },
): CursorState => ({
  ...withoutFailure(cursor),
  position: upTo,
  skipped: (cursor.skipped ?? 0) + count,
  skippedSince: cursor.skippedSince ?? first,
})

/** The cursor of a replay. Skipped events that it does not repeat stay skipped. */
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

/** How long to wait for the next attempt. After the clock was set back it may be further away than any delay; then it is due. */
export function untilNextAttempt({ nextAttempt }: FailureState, now: Microseconds): Microseconds {
  const wait = nextAttempt - now
  return wait > MAX_RETRY_AFTER ? 0 : wait
}

/** The next event was accepted, so one of the batch is at fault: a single one is parked, of several each half is tried. */
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

/** The receiver refused the next event too: it is an outage, and no event is suspect. */
export function afterRefusedProbe(cursor: CursorState): CursorState {
  const { suspectUntil: _, ...rest } = cursor
  return rest
}

const middleOf = (times: readonly string[]): string => times[Math.ceil(times.length / 2) - 1]!

/** Doubles with each attempt; half of it more or less by chance, so that subscriptions do not return all at once. */
function delayOf(attempts: number, { error, random }: FailedBatch): Microseconds {
  const delay: Microseconds = backoffMs(attempts - 1, RETRIES) * 1000
  const asked = Math.min((error.retryAfterMs ?? 0) * 1000, MAX_RETRY_AFTER)
  return Math.round(Math.max(delay * (0.5 + random), asked))
}
