import type { IncomingMessage, ServerResponse } from 'node:http'

/*
 * The part of Express and Connect that is used here, by shape: what they, their body parsers and
 * `basicAuth` add to the request of `node:http`. All of it may be missing.
 */

export type NodeRequest = IncomingMessage & {
  /** What the client sent, where `url` is what is left of it under a mount path. */
  readonly originalUrl?: string | undefined
  readonly body?: unknown
  readonly rawBody?: unknown
  /** The authenticated user, as {@link basicAuth} sets it. */
  username?: string | null | undefined
}

/** Goes on with what follows; with an error, to what answers errors. */
export type Next = (error?: unknown) => void

/** Middleware of Express and Connect; a request listener of `node:http` where it may do without `next`. */
export type NodeMiddleware = (request: NodeRequest, response: ServerResponse, next: Next) => void

export type NodeListener = (request: NodeRequest, response: ServerResponse, next?: Next) => void
