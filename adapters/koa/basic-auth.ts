import { withActor } from '../../src/recording/actor.js'
import { basicAuthentication, type BasicAuthOptions } from '../../src/http/basic-auth.js'
import { sendResponse } from './exchange.js'
import type { KoaMiddleware } from './koa.js'

/**
 * Koa middleware for HTTP Basic authentication: puts the user's name into `ctx.state.username`, and runs
 * what follows as that actor, whose name events get that are recorded without one. Others are answered
 * 401 with a challenge, and 429 with `Retry-After` after too many failures, which are counted by `ctx.ip`:
 * behind a proxy Koa has to be told (`app.proxy`), or all clients count as one. What a `users` function
 * throws goes through to Koa.
 */
export function basicAuth(options: BasicAuthOptions): KoaMiddleware {
  const authenticate = basicAuthentication(options)
  return async function basicAuth(ctx, next) {
    const authentication = await authenticate(ctx.get('authorization'), ctx.ip)
    if ('refusal' in authentication) {
      sendResponse(ctx, authentication.refusal)
      return undefined
    }
    const { username } = authentication
    ctx.state['username'] = username
    return withActor(username, next)
  }
}
