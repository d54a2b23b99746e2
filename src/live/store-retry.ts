import { type AuditLogError, untilAborted } from '../errors.js'
import { pause } from './pause.js'
import type { EventStore } from '../store/store.js'
import { asStoreFailure } from '../recording/store-failure.js'

export type StoreRequest<Answer> = (signal: AbortSignal) => Promise<Answer>

/** Repeats requests to a store until it answers. */
export interface StoreRetry {
  /**
   * Resolves to the store's answer. Repeats the same request with backoff while the store fails in a
   * way that may pass: the store may have applied a request that seemed to fail. Rejects with the
   * store's error, or with `deadlineExceeded` after `abort`.
   */
  withRetry<Answer>(request: StoreRequest<Answer>): Promise<Answer>
  abort(): void
}

export interface StoreRetryOptions {
  readonly store: EventStore
  /** Maximum duration of one attempt: if an answer got lost, the next attempt must not wait for it. */
  readonly attemptMs: number
  readonly onAttemptEnd: () => void
  readonly deadlineExceeded: (cause: unknown) => AuditLogError
}

const RETRY_MS = 100
const MAX_RETRY_MS = 2000

export function createStoreRetry(options: StoreRetryOptions): StoreRetry {
  const { store, attemptMs, onAttemptEnd, deadlineExceeded } = options
  const giveUp = new AbortController()

  const attempt = async <Answer>(request: StoreRequest<Answer>): Promise<Answer> => {
    const limit = new AbortController()
    const stop = (): void => limit.abort(giveUp.signal.reason)
    const timer = setTimeout(stop, attemptMs)
    giveUp.signal.addEventListener('abort', stop)
    try {
      return await untilAborted(request(limit.signal), giveUp.signal)
    } finally {
      clearTimeout(timer)
      giveUp.signal.removeEventListener('abort', stop)
      onAttemptEnd()
    }
  }

  return {
    async withRetry(request) {
      let lastFailure: unknown
      for (let ms = RETRY_MS; ; ms = Math.min(2 * ms, MAX_RETRY_MS)) {
        try {
          return await attempt(request)
        } catch (error) {
          const failure = asStoreFailure(store, error)
          if (giveUp.signal.aborted) throw deadlineExceeded(lastFailure ?? failure)
          if (!isTransient(failure)) throw failure
          lastFailure = failure
        }
        await pause(ms, giveUp.signal)
        if (giveUp.signal.aborted) throw deadlineExceeded(lastFailure)
      }
    },
    abort: () => giveUp.abort(),
  }
}

function isTransient({ code }: AuditLogError): boolean {
  return code === 'STORE_FAILED' || code === 'ABORTED' || code === 'QUERY_TIMEOUT'
}
