import {
  asStoreFailure,
  type AuditLogError,
  type AuditLogErrorCode,
  isOutcomeUnknown,
  outcomeUnknown,
  untilAborted,
} from '../errors.js'
import { type Backoff, backoffMs } from '../async/backoff.js'
import { pause } from '../async/pause.js'
import { timeoutSignal } from '../async/timeout-signal.js'
import type { EventStore } from '../store/store.js'

export type StoreRequest<Answer> = (signal: AbortSignal) => Promise<Answer>

/** Repeats requests to a store until it answers. */
export interface StoreRetry {
  /**
   * Resolves to the store's answer. Repeats the request with backoff after temporary failures of the store. The
   * repeated request is the same, because a failed request may have been applied. Rejects with the store's error, or
   * with `deadlineExceeded` after `abort`; with `OUTCOME_UNKNOWN` if an attempt ended with this code.
   */
  withRetry<Answer>(request: StoreRequest<Answer>): Promise<Answer>
  abort(): void
}

export interface StoreRetryOptions {
  readonly store: EventStore
  /** Maximum duration of one attempt. If its answer is lost, the next attempt starts after this time. */
  readonly attemptMs: number
  readonly onAttemptEnd: () => void
  readonly deadlineExceeded: (cause: unknown) => AuditLogError
}

const RETRIES: Backoff = { firstMs: 100, maxMs: 2000 }
/** Time in which an aborted request may still report its outcome. */
const GRACE_MS = 500

export function createStoreRetry(options: StoreRetryOptions): StoreRetry {
  const { store, attemptMs, onAttemptEnd, deadlineExceeded } = options
  const giveUp = new AbortController()

  const attempt = async <Answer>(request: StoreRequest<Answer>): Promise<Answer> => {
    using limit = timeoutSignal(attemptMs, giveUp.signal)
    const patience = new AbortController()
    let grace: NodeJS.Timeout | undefined
    const end = (): void => {
      grace = setTimeout(() => patience.abort(giveUp.signal.reason), GRACE_MS)
    }
    if (giveUp.signal.aborted) end()
    else giveUp.signal.addEventListener('abort', end, { once: true })
    try {
      return await untilAborted(request(limit.signal), patience.signal)
    } finally {
      clearTimeout(grace)
      giveUp.signal.removeEventListener('abort', end)
      onAttemptEnd()
    }
  }

  return {
    async withRetry(request) {
      let lastFailure: unknown
      let doubt: AuditLogError | undefined
      const giveUpError = (cause: unknown): AuditLogError => doubt ?? deadlineExceeded(cause)
      for (let failures = 0; ; failures++) {
        try {
          return await attempt(request)
        } catch (error) {
          const failure = asStoreFailure(store, error)
          if (isOutcomeUnknown(failure)) doubt = failure
          if (giveUp.signal.aborted) throw giveUpError(lastFailure ?? failure)
          if (!isTransient(failure)) throw doubt ? outcomeUnknown(doubt.message, failure) : failure
          lastFailure = failure
        }
        await pause(backoffMs(failures, RETRIES), giveUp.signal)
        if (giveUp.signal.aborted) throw giveUpError(lastFailure)
      }
    },
    abort: () => giveUp.abort(),
  }
}

const TRANSIENT: ReadonlySet<AuditLogErrorCode> = new Set([
  'STORE_FAILED',
  'ABORTED',
  'QUERY_TIMEOUT',
  'OUTCOME_UNKNOWN',
])

const isTransient = ({ code }: AuditLogError): boolean => TRANSIENT.has(code)
