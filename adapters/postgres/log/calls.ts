import { abortedError, AuditLogError } from '../../../src/errors.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import type { PostgresPoolClient } from '../connection/client.js'
import { asAuditLogError, isTransient } from '../connection/failures.js'
import type { PostgresLog } from './log.js'
import { LONG_MS } from './options.js'
import { pause } from '../connection/backoff.js'
import type { SchemaState } from '../schema/schema.js'

/** The work's outcome; `ABORTED` where the caller's signal ended it, else what the server said. */
export async function rejecting<Result>(
  work: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  try {
    return await work
  } catch (error) {
    if (signal?.aborted) throw abortedError(signal)
    // Given up by us, not by the caller: the reason is what counts.
    const isOver = error instanceof AuditLogError && error.code === 'ABORTED'
    throw asAuditLogError(isOver ? error.cause : error)
  }
}

/** What takes as long as it takes. */
export async function doAtLength<Result>(
  signal: AbortSignal | undefined,
  act: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  using wait = timeoutSignal(LONG_MS, signal)
  return await rejecting(act(wait.signal), signal)
}

const RETRY_MS = 10_000

async function persist<Result>(
  signal: AbortSignal | undefined,
  act: (signal: AbortSignal) => Promise<Result>,
  mayRepeat: () => boolean,
): Promise<Result> {
  const end = performance.now() + RETRY_MS
  for (let attempts = 0; ; attempts++) {
    using wait = timeoutSignal(end - performance.now(), signal)
    try {
      return await act(wait.signal)
    } catch (error) {
      if (wait.signal.aborted || !isTransient(error) || !mayRepeat()) throw error
    }
    await pause(attempts, wait.signal)
  }
}

/**
 * Tries again while the server is away, for some seconds; what `act` does must come to the same
 * however often it is done. `mayRepeat` tells whether that still holds.
 */
export function doPersistently<Result>(
  log: PostgresLog,
  signal: AbortSignal | undefined,
  act: (client: PostgresPoolClient, state: SchemaState) => Promise<Result>,
  mayRepeat = (): boolean => true,
): Promise<Result> {
  return rejecting(
    persist(signal, (waiting) => log.use(waiting, act), mayRepeat),
    signal,
  )
}
