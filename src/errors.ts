/**
 * Every `code` of an {@link AuditLogError}, with its meaning. Codes are stable; messages may change.
 * Tests and the compiler compare the documentation and the HTTP statuses with this table.
 */
export const errorCodes = {
  ABORTED: 'the caller aborted the operation before it took effect',
  CHANNEL_UNAVAILABLE: 'this process cannot deliver to the channel, or the channel is disabled',
  CLOSED: 'the audit log or its store is closed',
  DAMAGED:
    'the event is stored but cannot be read, because its stored data is damaged, or it is not the one that was sealed',
  DEADLINE_EXCEEDED: 'the store did not take the event in time; the event is not kept',
  DEFINED_IN_CODE:
    'the subscription or channel is part of the code and cannot be changed at run time',
  HELD: 'a legal hold keeps events of this subject; nothing was erased',
  IDEMPOTENCY_CONFLICT: 'the idempotency key was used for another event within the last 24 hours',
  IMPORT_CONFLICT:
    'an imported event conflicts with a stored one; the call kept none of its events',
  IN_USE: 'a subscription uses the channel',
  INTENT_ENDED: 'the intent has ended; it has another outcome, or none',
  INVALID_CHANNEL: 'a member of the channel is not valid',
  INVALID_DATA:
    'the data lacks a reason that the type requires, or, in strict mode, does not match its declaration',
  INVALID_EVENT: 'the event cannot be recorded as given',
  INVALID_LINK: 'a link attribute does not name a resource that events can link to',
  INVALID_OPTION: 'there is no such option, or its value is not one of the allowed values',
  INVALID_SUBSCRIPTION: 'a member of the subscription is not valid',
  INVALID_VALUE: 'a query parameter has a value that cannot be read',
  INVALID_VIEW: 'a member of the view is not valid, or the log has its maximum number of views',
  KEYS_UNAVAILABLE:
    'the keys of personal data cannot be had, so the data can be neither recorded nor read',
  LEDGER_DIVERGED: 'the tree of the ledger does not continue the one that was signed last',
  LIVE_CLOSED: 'the live event is closed; the change is not kept',
  MALFORMED_PROOF:
    'a proof, note, policy, key or export line does not follow its format; nothing was checked',
  MALFORMED_PARAMETER: 'a query parameter does not follow the grammar',
  MISSING_DEPENDENCY:
    'an optional package is missing, is broken or does not run in this version of Node; or Node is too old',
  NAME_TAKEN: 'another subscription or channel has this name',
  NOT_COVERED: 'routes and registered event types do not match',
  NO_LEDGER: 'the log has no ledger',
  NO_SECRETS_KEY: 'the channel has secrets, and the log has no key to encrypt them',
  NOT_PROVED: 'a signature, the event or the tree is not the one that the proof or the note is for',
  NOT_REACHED:
    'the log is not as far as the consistency token: it is of another log, or a failover has lost events',
  NOT_REVERTIBLE: 'the event does not hold enough to undo its change',
  NOT_SEALED: 'the event is not sealed yet, or no head covers it yet; try again in a second',
  OUTCOME_UNKNOWN:
    'the store did not confirm the write in time; what it wrote may be kept, or may be lost',
  QUERY_TIMEOUT:
    'the query took longer than the store allows; bounds of `created_at` make it faster',
  QUERY_TOO_LARGE: 'the query exceeds a limit on its size',
  QUEUE_FULL: 'too many events wait for the store; this event is not kept',
  READ_ONLY: 'the audit log was opened read-only; nothing was changed',
  SEALED_ATTRIBUTE:
    'the attribute is encrypted, so events cannot be filtered, sorted or counted by it',
  SCHEMA_MISMATCH:
    'the log has the schema of another version of Daybook, or the database has no log',
  SIGNER_REQUIRED:
    'the log has a ledger, so only the process that seals it can do this; nothing was changed',
  STORE_FAILED: 'the store failed; the driver error is the cause',
  UNKNOWN_ATTRIBUTE: 'the resource has no such attribute',
  UNKNOWN_CHANNEL: 'there is no channel with this id',
  UNKNOWN_EVENT_TYPE: 'the event type is not in the registry',
  UNKNOWN_LOG: 'there is no log with this key',
  UNKNOWN_PARAMETER: 'there is no such query parameter',
  UNKNOWN_PREDICATE: 'the name of the filter does not end with a known predicate',
  UNKNOWN_SUBSCRIPTION: 'there is no subscription with this id',
  UNKNOWN_VIEW: 'there is no view with this id',
} as const

export type AuditLogErrorCode = keyof typeof errorCodes

export interface AuditLogErrorDetails {
  readonly parameter?: string | undefined
  readonly pointer?: string | undefined
  readonly suggestion?: string | undefined
  readonly cause?: unknown
}

const MAX_MESSAGE = 1000

/** Messages quote wrong values. Of a long value, the beginning and the end stay. */
function shorten(message: string): string {
  if (message.length <= MAX_MESSAGE) return message
  return `${message.slice(0, MAX_MESSAGE / 2)} … ${message.slice(-MAX_MESSAGE / 3)}`.toWellFormed()
}

/** The error class of Daybook. `code` identifies the kind of failure. */
export class AuditLogError extends Error {
  override readonly name = 'AuditLogError'
  readonly code: AuditLogErrorCode
  /** The wrong query parameter, as the client wrote it: `filter[type_equals]`. */
  readonly parameter: string | undefined
  /** A JSON Pointer (RFC 6901) into the request document or the event's attributes. */
  readonly pointer: string | undefined
  /** The nearest valid name, if one is similar. */
  readonly suggestion: string | undefined

  constructor(code: AuditLogErrorCode, message: string, details: AuditLogErrorDetails = {}) {
    super(shorten(message), details.cause === undefined ? undefined : { cause: details.cause })
    this.code = code
    this.parameter = details.parameter
    this.pointer = details.pointer
    this.suggestion = details.suggestion
  }
}

/** The error of an option that does not exist, or whose value is not allowed. */
export const invalidOption = (message: string, cause?: unknown): AuditLogError =>
  new AuditLogError('INVALID_OPTION', message, { cause })

/** Throws `ABORTED`, with the signal's reason as cause, if the signal is aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedError(signal)
}

/** The promise's outcome, or `ABORTED` if the signal aborts first. The awaited work continues. */
export function untilAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortedError(signal))
    if (signal.aborted) {
      // Prevents an unhandled rejection.
      promise.catch(() => {})
      return onAbort()
    }
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
    return undefined
  })
}

/** The error of a write that the store may have made without confirming it. */
export function outcomeUnknown(what: string, cause?: unknown): AuditLogError {
  if (cause instanceof AuditLogError && cause.code === 'OUTCOME_UNKNOWN') return cause
  return new AuditLogError('OUTCOME_UNKNOWN', what, { cause })
}

export const isOutcomeUnknown = (error: unknown): boolean =>
  error instanceof AuditLogError && error.code === 'OUTCOME_UNKNOWN'

/** The error of a query that took longer than the store's `queryTimeoutMs`. */
export const queryTimedOut = (timeoutMs: number, cause?: unknown): AuditLogError =>
  new AuditLogError(
    'QUERY_TIMEOUT',
    `the query took longer than ${timeoutMs} ms: add bounds of created_at, such as filter[created_at_gteq]`,
    { cause },
  )

export function abortedError(signal: AbortSignal): AuditLogError {
  return new AuditLogError('ABORTED', 'the operation was aborted', { cause: signal.reason })
}

/** Makes an `AuditLogError` of a rejection of the store: an `AuditLogError` stays as it is, any other error becomes `STORE_FAILED`. */
export function asStoreFailure(store: { readonly name: string }, error: unknown): AuditLogError {
  if (error instanceof AuditLogError) return error
  return new AuditLogError('STORE_FAILED', `the ${store.name} store failed`, { cause: error })
}
