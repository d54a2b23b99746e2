import {
  BASIC_AUTH_OPTIONS as CORE_OPTIONS,
  basicAuthentication,
  type BasicAuthOptions as CoreOptions,
} from '../../src/http/basic-auth.js'
import { toResponse } from '../../src/http/fetch/exchange.js'
import { withActor } from '../../src/recording/actor.js'
import { ADDRESS_OPTION, type AddressOption, addressOf } from './address.js'
import type { FetchMiddleware } from './fetch.js'
import { type OptionNames, requireOptions } from '../../src/options.js'

/** Failures are counted by `address`. Where it is an empty string, all clients count as one. */
export type BasicAuthOptions = CoreOptions & AddressOption

const BASIC_AUTH_OPTIONS: OptionNames<BasicAuthOptions> = { ...CORE_OPTIONS, ...ADDRESS_OPTION }

/**
 * HTTP Basic authentication for fetch handlers: `basicAuth({ users })(handler)`. It sets `request.username` and
 * calls the handler as that actor: events recorded without a username get this one. Other requests get a 401 with
 * a challenge, or a 429 with `Retry-After` after too many failures.
 *
 * Rejects with the errors of a `users` function.
 */
export function basicAuth(options: BasicAuthOptions): FetchMiddleware {
  requireOptions(options, BASIC_AUTH_OPTIONS, 'basicAuth')
  const authenticate = basicAuthentication(options)
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
