import {
  abortedError,
  AuditLogError,
  isOutcomeUnknown,
  outcomeUnknown,
} from '../../../src/errors.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import type { PostgresPoolClient } from '../connection/client.js'
import { asAuditLogError, isTransient } from '../connection/failures.js'
import type { PostgresLog } from './log.js'
import { MAX_TIMER_MS } from '../../../src/async/timers.js'
import { pause } from '../connection/backoff.js'

/**
 * The result of the work. Rejects with `OUTCOME_UNKNOWN`, with `ABORTED` if the caller's signal ended it,
 * else with the failure.
 */
export async function rejecting<Result>(
  work: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (isOutcomeUnknown(error)) throw error
    if (signal?.aborted) throw abortedError(signal)
    // An abort by our own time limit: the cause says what failed.
    const isOwnAbort = error instanceof AuditLogError && error.code === 'ABORTED'
    throw asAuditLogError(isOwnAbort ? error.cause : error)
  }
}

/** Does work without a time limit of its own. */
export async function withoutTimeLimit<Result>(
  signal: AbortSignal | undefined,
  act: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  using wait = timeoutSignal(MAX_TIMER_MS, signal)
  return await rejecting(act(wait.signal), signal)
}

const RETRY_MS = 10_000

async function retry<Result>(
  signal: AbortSignal | undefined,
  act: (signal: AbortSignal) => Promise<Result>,
  mayRepeat: () => boolean,
): Promise<Result> {
  using wait = timeoutSignal(RETRY_MS, signal)
  let doubt: AuditLogError | undefined
  for (let attempts = 0; ; attempts++) {
    try {
      return await act(wait.signal)
    } catch (error) {
      if (isOutcomeUnknown(error)) doubt = error as AuditLogError
      const mayPass = (isOutcomeUnknown(error) || isTransient(error)) && mayRepeat()
      if (mayPass) await pause(attempts, wait.signal)
      if (!mayPass || wait.signal.aborted)
        throw doubt ? outcomeUnknown(doubt.message, error) : error
    }
  }
}

/**
 * Retries for up to 10 seconds while the server is away. `act` must have the same effect however often
 * it is called, or `mayRepeat` must return false once it must not be called again. `OUTCOME_UNKNOWN` if by then
 * a synchronous standby did not confirm it, or the server did not answer a commit.
 */
export function withRetry<Result>(
  log: Pick<PostgresLog, 'write'>,
  signal: AbortSignal | undefined,
  act: (client: PostgresPoolClient) => Promise<Result>,
  mayRepeat = (): boolean => true,
): Promise<Result> {
  return rejecting(
    retry(signal, (waiting) => log.write(waiting, act), mayRepeat),
    signal,
  )
}

/** Like {@link withRetry}, for work that only reads. */
export const readWithRetry = <Result>(
  log: Pick<PostgresLog, 'use'>,
  signal: AbortSignal | undefined,
  act: (client: PostgresPoolClient) => Promise<Result>,
): Promise<Result> =>
  rejecting(
    retry(
      signal,
      (waiting) => log.use(waiting, act),
      () => true,
    ),
    signal,
  )
