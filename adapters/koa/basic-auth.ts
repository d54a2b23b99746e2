import { withActor } from '../../src/recording/actor.js'
import {
  BASIC_AUTH_OPTIONS,
  basicAuthentication,
  type BasicAuthOptions,
} from '../../src/http/basic-auth.js'
import { sendResponse } from './exchange.js'
import type { KoaMiddleware } from './koa.js'
import { requireOptions } from '../../src/options.js'

/**
 * Koa middleware for HTTP Basic authentication. It sets `ctx.state.username` and runs the following
 * middleware as that actor: events recorded without a username get this one. Other requests get a 401 with
 * a challenge, or a 429 with `Retry-After` after too many failures. Failures are counted by `ctx.ip`.
 * Behind a proxy set Koa's options `proxy` and `maxIpsCount`, the number of proxies: without `proxy` all clients
 * count as one, and without `maxIpsCount` a client that forges `X-Forwarded-For` counts as a new one. Errors of a `users` function are passed to Koa.
 */
export function basicAuth(options: BasicAuthOptions): KoaMiddleware {
  requireOptions(options, BASIC_AUTH_OPTIONS, 'basicAuth')
  const authenticate = basicAuthentication(options)
  return async function basicAuth(ctx, next) {
    const authentication = await authenticate(ctx.get('authorization'), () => ctx.ip)
    if ('refusal' in authentication) {
      sendResponse(ctx, authentication.refusal)
      return undefined
    }
    const { username } = authentication
    ctx.state['username'] = username
    return withActor(username, next)
  }
}
