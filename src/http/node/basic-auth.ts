import { withActor } from '../../recording/actor.js'
import {
  BASIC_AUTH_OPTIONS as CORE_OPTIONS,
  basicAuthentication,
  type BasicAuthOptions as CoreOptions,
} from '../basic-auth.js'
import { respond } from './exchange.js'
import type { NodeMiddleware, NodeRequest } from './node.js'
import { type OptionNames, requireOptions } from '../../options.js'

export interface BasicAuthOptions extends CoreOptions {
  /**
   * The address by which failures are counted. Behind a proxy it must be the client's address, or all
   * clients count as one: `(request) => request.ip` with Express and its `trust proxy`.
   * @default the remote address of the socket
   */
  address?(request: NodeRequest): string
}

export const BASIC_AUTH_OPTIONS: OptionNames<BasicAuthOptions> = { ...CORE_OPTIONS, address: true }

/**
 * Middleware of Express and Connect for HTTP Basic authentication. It sets `request.username` and runs the
 * following middleware as that actor: events recorded without a username get this one. Other requests get a
 * 401 with a challenge, or a 429 with `Retry-After` after too many failures. With `node:http` alone:
 * `authenticate(request, response, () => …)`.
 *
 * Errors of a `users` function are passed to `next`. A `next` without parameters is not called: the error
 * becomes a process warning and the response is 500.
 */
export function basicAuth(options: BasicAuthOptions): NodeMiddleware {
  requireOptions(options, BASIC_AUTH_OPTIONS, 'basicAuth')
  const authenticate = basicAuthentication(options)
  return function basicAuth(request, response, next) {
    respond(
      { request, response, next },
      async () => {
        const authentication = await authenticate(
          request.headers.authorization ?? '',
          () => options.address?.(request) ?? request.socket.remoteAddress ?? '',
        )
        if ('refusal' in authentication) return authentication.refusal
        request.username = authentication.username
        return undefined
      },
      () => withActor(request.username ?? null, () => next()),
    )
  }
}
