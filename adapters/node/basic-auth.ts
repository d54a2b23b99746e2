import { withActor } from '../../src/recording/actor.js'
import {
  basicAuthentication,
  type BasicAuthOptions as CoreOptions,
} from '../../src/http/basic-auth.js'
import { respond } from './exchange.js'
import type { NodeMiddleware, NodeRequest } from './node.js'

export interface BasicAuthOptions extends CoreOptions {
  /**
   * The address that failures are counted by. Behind a proxy it has to be the client's, or all
   * clients count as one: `(request) => request.ip` with Express and its `trust proxy`.
   * @default the address of the connection's other end
   */
  address?(request: NodeRequest): string
}

/**
 * Middleware of Express and Connect for HTTP Basic authentication: puts the user's name into
 * `request.username`, and runs what follows as that actor, whose name events get that are recorded
 * without one. Others are answered 401 with a challenge, and 429 with `Retry-After` after too many
 * failures. With `node:http` alone: `authenticate(request, response, () => …)`.
 *
 * What a `users` function throws goes to `next`. A `next` that takes no error is not called: the error
 * becomes a process warning, and the answer is 500.
 */
export function basicAuth(options: BasicAuthOptions): NodeMiddleware {
  const authenticate = basicAuthentication(options)
  return function basicAuth(request, response, next) {
    respond(
      { request, response, next },
      async () => {
        const address = options.address?.(request) ?? request.socket.remoteAddress ?? ''
        const authentication = await authenticate(request.headers.authorization ?? '', address)
        if ('refusal' in authentication) return authentication.refusal
        request.username = authentication.username
        return undefined
      },
      () => withActor(request.username ?? null, () => next()),
    )
  }
}
