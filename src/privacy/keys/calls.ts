import { AuditLogError, throwIfAborted } from '../../errors.js'
import type { WaitOptions } from '../../store/store.js'
import { type Limits, TIMEOUT_MS } from './limits.js'
import { keysUnavailable } from './wrapping.js'

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

/** Calls of a store with this name. They reject with `CLOSED` once the limits are closed. */
export function createCalls(name: string, limits: Limits): Call {
  const closedError = (): AuditLogError =>
    new AuditLogError('CLOSED', `the keys in the ${name} store are closed`)

  return async ({ signal } = {}, act, limitMs) => {
    if (limits.isClosed()) throw closedError()
    throwIfAborted(signal)
    try {
      const result = await limits.run(act, signal, limitMs)
      if (limits.isClosed()) throw closedError()
      return result
    } catch (error) {
      throw limits.isClosed() ? closedError() : failureOf(error, name, signal)
    }
  }
}
