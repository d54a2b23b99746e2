import {
  type BasicAuth,
  BASIC_AUTH_OPTIONS,
  basicAuthentication,
  type BasicAuthOptions,
} from '../../../src/http/basic-auth.js'
import { ADDRESS_OPTION } from '../../../src/http/fetch/address.js'
import { toResponse } from '../../../src/http/fetch/exchange.js'
import { withActor } from '../../../src/recording/actor.js'
import { addressOf, type H3Address, type H3Middleware, rethrow } from './h3.js'

const OPTIONS = { ...BASIC_AUTH_OPTIONS, ...ADDRESS_OPTION }

/** Middleware of h3 that sets `event.context.username`. */
export const basicAuth: BasicAuth<BasicAuthOptions & H3Address, H3Middleware> = (options) => {
  const authenticate = basicAuthentication(options, OPTIONS)
  return async (event, next) => {
    const { req, context } = event
    const authorization = req.headers.get('authorization') ?? ''
    const authentication = await authenticate(authorization, () => addressOf(options, event)).catch(
      rethrow,
    )
    if ('refusal' in authentication) return toResponse(req, authentication.refusal)
    context.username = authentication.username
    return withActor(authentication.username, next)
  }
}
