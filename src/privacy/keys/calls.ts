import { timeoutSignal } from '../../async/timeout-signal.js'
import { AuditLogError, throwIfAborted, untilAborted } from '../../errors.js'
import type { WaitOptions } from '../../store/store.js'
import { keysUnavailable } from './wrapping.js'

/** How long the store may take for a call, in milliseconds. */
export const TIMEOUT_MS = 10_000

/** Calls `act` with a limit of time, and makes an error of the contract of each rejection. */
export type Call = <Result>(
  options: WaitOptions | undefined,
  act: (signal: AbortSignal) => Promise<Result>,
  limitMs?: number,
) => Promise<Result>

/** The error of the contract for a rejection of a store, which may be any error. */
function failureOf(error: unknown, name: string, signal: AbortSignal | undefined): AuditLogError {
  const code = error instanceof AuditLogError ? error.code : undefined
  const isOurs = code === 'KEYS_UNAVAILABLE' || code === 'INVALID_OPTION'
  if (isOurs || (code === 'ABORTED' && signal?.aborted)) return error as AuditLogError
  const reason =
    code === 'ABORTED'
      ? `did not answer in ${TIMEOUT_MS / 1000} s`
      : `failed: ${error instanceof Error ? error.message : String(error)}`
  return keysUnavailable(`the ${name} store ${reason}`, error)
}

/** Calls of a store with this name. They reject with `CLOSED` from when `isClosed` returns true. */
export function createCalls(name: string, isClosed: () => boolean): Call {
  const closedError = (): AuditLogError =>
    new AuditLogError('CLOSED', `the keys in the ${name} store are closed`)

  return async ({ signal } = {}, act, limitMs = TIMEOUT_MS) => {
    if (isClosed()) throw closedError()
    throwIfAborted(signal)
    using timeout = timeoutSignal(limitMs, signal)
    try {
      const result = await untilAborted(act(timeout.signal), timeout.signal)
      if (isClosed()) throw closedError()
      return result
    } catch (error) {
      throw isClosed() ? closedError() : failureOf(error, name, signal)
    }
  }
}
