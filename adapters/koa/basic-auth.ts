import { withActor } from '../../src/recording/actor.js'
import {
  type BasicAuth,
  basicAuthentication,
  type BasicAuthOptions,
} from '../../src/http/basic-auth.js'
import { sendResponse } from './exchange.js'
import type { KoaMiddleware } from './koa.js'

/**
 * Koa middleware that sets `ctx.state.username`. Failures are counted by `ctx.ip`.
 * Behind a proxy set Koa's options `proxy` and `maxIpsCount`, the number of proxies: without `proxy` all clients
 * count as one, and without `maxIpsCount` a client that forges `X-Forwarded-For` counts as a new one.
 */
export const basicAuth: BasicAuth<BasicAuthOptions, KoaMiddleware> = (options) => {
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
