import { AuditLogError } from '../errors.js'
import type { EventStore } from '../store/store.js'

export function asStoreFailure(store: EventStore, error: unknown): AuditLogError {
  if (error instanceof AuditLogError) return error
  return new AuditLogError('STORE_FAILED', `the ${store.name} store failed`, { cause: error })
}

// Error causes can form a cycle.
const MAX_CAUSES = 20

/** The cause at the end of the chain; the error itself if it has no cause that is an error. */
export function innermostCause(failure: Error): Error {
  let innermost = failure
  for (let depth = 0; depth < MAX_CAUSES; depth++) {
    // For a host name with several addresses `net` gives an AggregateError without a message.
    const isAggregate = innermost instanceof AggregateError && innermost.message === ''
    const cause: unknown = isAggregate ? (innermost as AggregateError).errors[0] : innermost.cause
    if (!(cause instanceof Error)) break
    innermost = cause
  }
  return innermost
}

/** `: <message of the innermost cause>` if the store gave a cause of its own, else an empty string. */
export function reasonOf(failure: AuditLogError, { reason: abortReason }: AbortSignal): string {
  const innermost = innermostCause(failure)
  const { message } = innermost
  return innermost === failure || innermost === abortReason || message === '' ? '' : `: ${message}`
}
