import type { IncomingMessage, ServerResponse } from 'node:http'

/*
 * The part of Express and Connect that is used here, as structural types: members that they, their body parsers
 * and `basicAuth` add to the request of `node:http`. Each may be missing.
 */

export type NodeRequest = IncomingMessage & {
  /** The URL as sent by the client; `url` lacks the mount path. */
  readonly originalUrl?: string | undefined
  readonly body?: unknown
  readonly rawBody?: unknown
  /** The authenticated user, as {@link basicAuth} sets it. */
  username?: string | null | undefined
}

/** Calls the next middleware, or with an error the next error handler. */
export type Next = (error?: unknown) => void

/** Middleware of Express and Connect. */
export type NodeMiddleware = (request: NodeRequest, response: ServerResponse, next: Next) => void

/** Middleware that also works without `next`, as a request listener of `node:http`. */
export type NodeListener = (request: NodeRequest, response: ServerResponse, next?: Next) => void
