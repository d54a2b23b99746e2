import { withActor } from '../../recording/actor.js'
import {
  type BasicAuth,
  BASIC_AUTH_OPTIONS as CORE_OPTIONS,
  basicAuthentication,
  type BasicAuthOptions as CoreOptions,
} from '../basic-auth.js'
import { respond } from './exchange.js'
import type { NodeMiddleware, NodeRequest } from './node.js'
import type { OptionNames } from '../../options.js'

export interface BasicAuthOptions extends CoreOptions {
  /**
   * The address by which failures are counted. Behind a proxy it must be the client's address, or all
   * clients count as one: `(request) => request.ip` with Express and its `trust proxy`.
   * @default the remote address of the socket
   */
  address?(request: NodeRequest): string
}

const BASIC_AUTH_OPTIONS: OptionNames<BasicAuthOptions> = { ...CORE_OPTIONS, address: true }

/** Makes middleware for a framework on `node:http`, which counts failures by `addressOf` unless the option `address` is given. */
export const nodeAuthentication =
  (
    addressOf: (request: NodeRequest) => string | undefined,
  ): BasicAuth<BasicAuthOptions, NodeMiddleware> =>
  (options) => {
    const authenticate = basicAuthentication(options, BASIC_AUTH_OPTIONS)
    return function basicAuth(request, response, next) {
      respond(
        { request, response, next },
        async () => {
          const authentication = await authenticate(
            request.headers.authorization ?? '',
            () => options.address?.(request) ?? addressOf(request) ?? '',
          )
          if ('refusal' in authentication) return authentication.refusal
          request.username = authentication.username
          return undefined
        },
        () => withActor(request.username ?? null, () => next()),
      )
    }
  }

/**
 * Middleware of Connect that sets `request.username`. With `node:http` alone: `authenticate(request, response, () => …)`. Errors of a
 * `users` function are passed to `next`. A `next` without parameters is not called: the error becomes a process warning and the
 * response is 500.
 */
export const basicAuth = /* @__PURE__ */ nodeAuthentication(({ socket }) => socket.remoteAddress)
