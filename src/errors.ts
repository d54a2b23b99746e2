/**
 * Every `code` an {@link AuditLogError} can carry, with its meaning. Codes are stable; messages are
 * not. The README's table and the HTTP statuses are held to this list by tests and by the compiler.
 */
export const errorCodes = {
  ABORTED: 'the caller aborted the operation before it took effect',
  CLOSED: 'the audit log or its store is closed',
  DEADLINE_EXCEEDED: 'the store did not take the event in time; it is not kept',
  IDEMPOTENCY_CONFLICT: 'the idempotency key was used for another event within the last 24 hours',
  IMPORT_CONFLICT: 'an imported event clashes with a stored one; nothing of the call is kept',
  INVALID_DATA: 'strict mode: the data does not fit what the event type declares',
  INVALID_EVENT: 'the event itself cannot be recorded as it was given',
  INVALID_LINK: 'a link attribute does not name something an event can be linked to',
  INVALID_OPTION: 'an option is not one of the allowed values',
  INVALID_VALUE: 'a query parameter has a value that cannot be read',
  LIVE_CLOSED: 'the live event is closed; the change is not kept',
  MALFORMED_PARAMETER: 'a query parameter is not written as the grammar asks',
  MISSING_DEPENDENCY: 'an optional package has to be installed for this',
  NOT_COVERED: 'routes and registered event types do not fit each other',
  QUERY_TIMEOUT: 'the query took longer than the store lets one take',
  QUERY_TOO_LARGE: 'the query exceeds a limit on its size',
  QUEUE_FULL: 'too many events already wait for the store; this one is not kept',
  STORE_FAILED: 'the store failed; the driver error is the cause',
  UNKNOWN_ATTRIBUTE: 'the resource has no such attribute',
  UNKNOWN_EVENT_TYPE: 'the event type is not in the registry',
  UNKNOWN_PARAMETER: 'the endpoint knows no such query parameter',
  UNKNOWN_PREDICATE: 'no known predicate ends the name of the filter',
} as const

export type AuditLogErrorCode = keyof typeof errorCodes

export interface AuditLogErrorDetails {
  readonly parameter?: string | undefined
  readonly pointer?: string | undefined
  readonly suggestion?: string | undefined
  readonly cause?: unknown
}

const MAX_MESSAGE = 1000

/** What was wrong is repeated in messages: of what is long both ends tell enough. */
function withoutMiddle(message: string): string {
  if (message.length <= MAX_MESSAGE) return message
  return `${message.slice(0, MAX_MESSAGE / 2)} … ${message.slice(-MAX_MESSAGE / 3)}`.toWellFormed()
}

/** The one error class: what goes wrong in Daybook rejects or throws with it, and `code` says which. */
export class AuditLogError extends Error {
  override readonly name = 'AuditLogError'
  readonly code: AuditLogErrorCode
  /** The query parameter that was wrong, as the client wrote it: `filter[type_equals]`. */
  readonly parameter: string | undefined
  /** A JSON Pointer (RFC 6901) into the request document or the event's attributes. */
  readonly pointer: string | undefined
  /** The nearest valid name, where one is near. */
  readonly suggestion: string | undefined

  constructor(code: AuditLogErrorCode, message: string, details: AuditLogErrorDetails = {}) {
    super(
      withoutMiddle(message),
      details.cause === undefined ? undefined : { cause: details.cause },
    )
    this.code = code
    this.parameter = details.parameter
    this.pointer = details.pointer
    this.suggestion = details.suggestion
  }
}

/** Throws `ABORTED`, with the signal's reason as cause, once the signal is aborted. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedError(signal)
}

/** The promise's outcome, or `ABORTED` where the signal comes first; what was awaited goes on. */
export function untilAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal | undefined,
): Promise<Value> {
  if (!signal) return promise
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(abortedError(signal))
    if (signal.aborted) {
      // Nobody else looks at how it ends.
      promise.catch(() => {})
      return onAbort()
    }
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
    return undefined
  })
}

export function abortedError(signal: AbortSignal): AuditLogError {
  return new AuditLogError('ABORTED', 'the operation was aborted', { cause: signal.reason })
}
