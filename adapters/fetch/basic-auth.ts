import {
  type BasicAuth,
  BASIC_AUTH_OPTIONS as CORE_OPTIONS,
  basicAuthentication,
  type BasicAuthOptions as CoreOptions,
} from '../../src/http/basic-auth.js'
import { ADDRESS_OPTION } from '../../src/http/fetch/address.js'
import { toResponse } from '../../src/http/fetch/exchange.js'
import { withActor } from '../../src/recording/actor.js'
import { addressOf, type FetchAddressOption, type FetchMiddleware } from './fetch.js'
import type { OptionNames } from '../../src/options.js'

/** Failures are counted by `address`. Where it is an empty string, all clients count as one. */
export type BasicAuthOptions = CoreOptions & FetchAddressOption

const BASIC_AUTH_OPTIONS: OptionNames<BasicAuthOptions> = { ...CORE_OPTIONS, ...ADDRESS_OPTION }

/** For fetch handlers: `basicAuth({ users })(handler)` sets `request.username`. It rejects with the errors of a `users` function. */
export const basicAuth: BasicAuth<BasicAuthOptions, FetchMiddleware> = (options) => {
  const authenticate = basicAuthentication(options, BASIC_AUTH_OPTIONS)
  return function basicAuth(handler) {
    return async (request, ...passed) => {
      const authorization = request.headers.get('authorization') ?? ''
      const authentication = await authenticate(authorization, () =>
        addressOf(options, request, passed),
      )
      if ('refusal' in authentication) return toResponse(request, authentication.refusal)
      const { username } = authentication
      const authenticated = Object.assign(request, { username })
      return withActor(username, () => handler(authenticated, ...passed))
    }
  }
}
