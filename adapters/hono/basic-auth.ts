import {
  type BasicAuth,
  BASIC_AUTH_OPTIONS as CORE_OPTIONS,
  basicAuthentication,
  type BasicAuthOptions as CoreOptions,
} from '../../src/http/basic-auth.js'
import { ADDRESS_OPTION, type AddressOption } from '../../src/http/fetch/address.js'
import { toResponse } from '../../src/http/fetch/exchange.js'
import { withActor } from '../../src/recording/actor.js'
import { rethrowInRealm } from './exchange.js'
import { addressOf, type HonoContext, type HonoMiddleware } from './hono.js'
import type { OptionNames } from '../../src/options.js'

/** Failures are counted by `address`. Where it is an empty string, all clients count as one. */
export type BasicAuthOptions = CoreOptions & AddressOption<[context: HonoContext]>

const BASIC_AUTH_OPTIONS: OptionNames<BasicAuthOptions> = { ...CORE_OPTIONS, ...ADDRESS_OPTION }

/** Hono middleware that sets the variable `username`. */
export const basicAuth: BasicAuth<BasicAuthOptions, HonoMiddleware> = (options) => {
  const authenticate = basicAuthentication(options, BASIC_AUTH_OPTIONS)
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
