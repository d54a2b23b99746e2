import type { ServerResponse } from 'node:http'
import { thrownError } from '../thrown-error.js'
import type { Next, NodeRequest } from './node.js'

const thrown = new WeakMap<object, { readonly value: unknown }>()

/** Keeps the error of a request until its response ends. */
export function noteThrown(request: object, value: unknown): void {
  thrown.set(request, { value })
}

/** The request was continued after its error. */
export function forgetThrown(request: object): void {
  thrown.delete(request)
}

export const thrownOf = (request: object): { readonly value: unknown } | undefined =>
  thrown.get(request)

/**
 * Gives the message and the backtrace of an error to the event of its request, for frameworks that answer errors
 * themselves, such as NestJS. `request` is the one that the framework passes to handlers.
 */
export function recordError(request: object, error: unknown): void {
  noteThrown(request, error)
}

/**
 * Error-handling middleware: the event of the request gets the message and the backtrace of the error, which
 * is passed on. Mount it after the routes and before other error handlers.
 */
export function recordErrors(
  error: unknown,
  request: NodeRequest,
  _response: ServerResponse,
  next: Next,
): void {
  noteThrown(request, error)
  // Without an error `next` would run the next handler.
  next(error || thrownError(error))
}
