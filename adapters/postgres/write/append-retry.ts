import { AuditLogError, isOutcomeUnknown, outcomeUnknown } from '../../../src/errors.js'
import type { EventDraft } from '../../../src/event/event.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import type { AppendOptions } from '../../../src/store/store.js'
import { abortedAfter, pause } from '../connection/backoff.js'
import {
  asAuditLogError,
  codeOf,
  DATATYPE_MISMATCH,
  isTransient,
  NO_PARTITION,
  QUERY_CANCELED,
  TOO_LATE,
} from '../connection/failures.js'
import type { Attempts } from './append.js'
import type { Appended } from './append-call.js'
import type { PartitionsAhead } from './partitions-ahead.js'

/** The time limit of an attempt if the caller sets no deadline. */
const ATTEMPT_MS = 10_000

const MAY_STAY =
  'the Postgres server did not answer whether it has stored the event, and in a log with a ledger a stored event stays'

/**
 * Repeats the attempt while its failures are transient, until the deadline if there is one. Rejects with
 * `OUTCOME_UNKNOWN` if an attempt has stored the drafts, but its commit was not confirmed, and in a log with a ledger also if it may have
 * stored them.
 */
export async function appendWithRetry(
  attempts: Attempts,
  partitions: PartitionsAhead,
  drafts: readonly EventDraft[],
  { signal, deadline, since, retriedLater }: AppendOptions,
): Promise<Appended> {
  let failure: unknown
  let doubt: AuditLogError | undefined
  const asRejection = (error: AuditLogError): AuditLogError => {
    if (doubt) return outcomeUnknown(doubt.message, error)
    return attempts.mayStay(drafts) ? outcomeUnknown(MAY_STAY, error) : error
  }
  for (let count = 0; ; count++) {
    const until = deadline ?? performance.now() + ATTEMPT_MS
    using wait = timeoutSignal(until - performance.now(), signal)
    if (signal?.aborted || until <= performance.now())
      throw asRejection(abortedAfter(failure ?? signal?.reason))
    try {
      return await attempts.run({ drafts, deadline: until, since, retriedLater }, wait.signal)
    } catch (error) {
      if (codeOf(error) === NO_PARTITION && count < 2) {
        await partitions.create(wait.signal).catch(() => {})
        continue
      }
      // The row type has another OID, which the next attempt reads.
      if (codeOf(error) === DATATYPE_MISMATCH && count < 2) continue
      const isAborted = error instanceof AuditLogError && error.code === 'ABORTED'
      const isUnknown = isOutcomeUnknown(error)
      if (isUnknown) doubt = error as AuditLogError
      const isOver = isAborted || codeOf(error) === TOO_LATE || codeOf(error) === QUERY_CANCELED
      if (!isOver && !isUnknown && !isTransient(error)) throw asRejection(asAuditLogError(error))
      // An earlier failure says more than the time limit.
      if (!isOver) failure = error
      else failure ??= isAborted ? error.cause : error
      // Before the deadline this means that a clock was changed or this machine was paused.
      if (codeOf(error) === TOO_LATE) await attempts.synchronize(wait.signal).catch(() => {})
    }
    await pause(count, signal)
  }
}
