import {
  BASIC_AUTH_OPTIONS as CORE_OPTIONS,
  basicAuthentication,
  type BasicAuthOptions as CoreOptions,
} from '../../src/http/basic-auth.js'
import { toResponse } from '../../src/http/fetch/exchange.js'
import { withActor } from '../../src/recording/actor.js'
import { ADDRESS_OPTION, type AddressOption, addressOf } from './address.js'
import { rethrowInRealm } from './exchange.js'
import type { HonoMiddleware } from './hono.js'
import { type OptionNames, requireOptions } from '../../src/options.js'

/** Failures are counted by `address`. Where it is an empty string, all clients count as one. */
export type BasicAuthOptions = CoreOptions & AddressOption

const BASIC_AUTH_OPTIONS: OptionNames<BasicAuthOptions> = { ...CORE_OPTIONS, ...ADDRESS_OPTION }

/**
 * Hono middleware for HTTP Basic authentication. It sets the variable `username` and runs the following middleware
 * as that actor: events recorded without a username get this one. Other requests get a 401 with a challenge, or a
 * 429 with `Retry-After` after too many failures. Errors of a `users` function go to `onError`.
 */
export function basicAuth(options: BasicAuthOptions): HonoMiddleware {
  requireOptions(options, BASIC_AUTH_OPTIONS, 'basicAuth')
  const authenticate = basicAuthentication(options)
  return async function basicAuth(context, next) {
    const request = context.req.raw
    const authorization = request.headers.get('authorization') ?? ''
    const authentication = await authenticate(authorization, () =>
      addressOf(options, context),
    ).catch(rethrowInRealm)
    if ('refusal' in authentication) return toResponse(request, authentication.refusal)
    const { username } = authentication
    context.set('username', username)
    return withActor(username, next)
  }
}
