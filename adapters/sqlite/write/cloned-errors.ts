import { AuditLogError, type AuditLogErrorCode, errorCodes } from '../../../src/errors.js'

/** An error as a message between threads carries it; structured cloning loses its class and its `code`. */
export interface ClonedError {
  readonly name: string
  readonly message: string
  readonly stack: string | undefined
  /** `code` of an `AuditLogError` or of better-sqlite3, `errcode` of `node:sqlite`, and so on. */
  readonly details: Readonly<Record<string, string | number>>
  readonly cause: ClonedError | undefined
}

// Causes can form a cycle.
const MAX_CAUSES = 20

const isDetail = (entry: [string, unknown]): entry is [string, string | number] =>
  typeof entry[1] === 'string' || typeof entry[1] === 'number'

export function cloneError(thrown: unknown, depth = 0): ClonedError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const { name, message, stack, cause } = error
  const hasCause = cause !== undefined && depth < MAX_CAUSES
  return {
    name,
    message,
    stack,
    details: Object.fromEntries(Object.entries(error).filter(isDetail)),
    cause: hasCause ? cloneError(cause, depth + 1) : undefined,
  }
}

const isCode = (code: unknown): code is AuditLogErrorCode =>
  typeof code === 'string' && Object.hasOwn(errorCodes, code)

/** The error with its class, if that is `AuditLogError`; any other keeps its name and its details. */
export function errorOfClone({ name, message, stack, details, cause }: ClonedError): Error {
  const options = cause ? { cause: errorOfClone(cause) } : {}
  const { code } = details
  const error =
    name === 'AuditLogError' && isCode(code)
      ? new AuditLogError(code, message, { ...details, ...options })
      : Object.assign(new Error(message, options), details)
  Object.defineProperty(error, 'stack', { value: stack, configurable: true, writable: true })
  if (error.name !== name)
    Object.defineProperty(error, 'name', { value: name, configurable: true, writable: true })
  return error
}
