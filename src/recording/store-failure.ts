import { AuditLogError } from '../errors.js'
import type { EventStore } from '../store/store.js'

export function asStoreFailure(store: EventStore, error: unknown): AuditLogError {
  if (error instanceof AuditLogError) return error
  return new AuditLogError('STORE_FAILED', `the ${store.name} store failed`, { cause: error })
}

const MAX_CAUSES = 20

/** `: <what the driver said last>` where the store knows why it did not get to it, else nothing. */
export function reasonOf(failure: AuditLogError, { reason: ours }: AbortSignal): string {
  let innermost: unknown = failure
  for (let depth = 0; depth < MAX_CAUSES; depth++) {
    // As `net` gives them for a name with several addresses, without a message of their own.
    const isBundle = innermost instanceof AggregateError && innermost.message === ''
    const cause = isBundle
      ? (innermost as AggregateError).errors[0]
      : innermost instanceof Error
        ? innermost.cause
        : undefined
    if (!(cause instanceof Error)) break
    innermost = cause
  }
  const { message } = innermost as Error
  return innermost === failure || innermost === ours || message === '' ? '' : `: ${message}`
}
