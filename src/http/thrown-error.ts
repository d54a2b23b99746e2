import { validateHeaderName, validateHeaderValue } from 'node:http'
import { inspect } from 'node:util'
import { isError } from '../event/failure.js'

/*
 * Functions of a host may throw anything. Servers take some of these values for no error at all, and answer others as a
 * success, or never.
 */

/** Servers answer with the `status` or `statusCode` of an error. */
const isRefusal = (status: unknown): boolean =>
  status === undefined ||
  status === null ||
  (typeof status === 'number' && status >= 400 && status < 600)

/** Servers send the `headers` of an error. */
function checkHeaders(headers: unknown): void {
  for (const [name, value] of Object.entries(Object(headers) as Record<string, string>)) {
    validateHeaderName(name)
    validateHeaderValue(name, value)
  }
}

/** True if a server can answer an error, and answers it with a status of at least 400. */
function isAnswerable(error: Error): boolean {
  try {
    const { name, message, stack, status, statusCode, headers, getResponse } = error as Error &
      Readonly<Record<string, unknown>>
    checkHeaders(headers)
    // Loggers read these.
    for (const key in error) void error[key as keyof Error]
    return (
      [name, message, stack ?? ''].every((text) => typeof text === 'string') &&
      isRefusal(status) &&
      isRefusal(statusCode) &&
      // Hono sends this response.
      (getResponse === undefined || status !== undefined) &&
      // Koa sets `status`.
      Object.isExtensible(error)
    )
  } catch {
    return false
  }
}

function textOf(thrown: unknown): string {
  if (thrown === null || (typeof thrown !== 'object' && typeof thrown !== 'function'))
    return inspect(thrown)
  try {
    const { message } = thrown as { readonly message?: unknown }
    if (typeof message === 'string') return message
  } catch {
    // It cannot be read.
  }
  return typeof thrown === 'function' ? 'a function' : 'an object'
}

/**
 * The thrown value if it is an error of any realm that servers answer with a status of at least 400; otherwise an
 * error with the value as its `cause`. Never throws.
 */
export function thrownError(thrown: unknown): Error {
  if (!isError(thrown))
    return new Error(`a value that is not an error was thrown: ${textOf(thrown)}`, {
      cause: thrown,
    })
  return isAnswerable(thrown) ? thrown : new Error(textOf(thrown), { cause: thrown })
}

/** Like {@link thrownError}, but an error of this realm, for code that recognises errors by `instanceof`. */
export function thrownErrorOfRealm(thrown: unknown): Error {
  const error = thrownError(thrown)
  const isOfRealm: boolean = error instanceof Error
  return isOfRealm ? error : new Error(error.message, { cause: error })
}

/** For `catch` of a promise that the host gets. */
export const rethrow = (thrown: unknown): never => {
  throw thrownError(thrown)
}
