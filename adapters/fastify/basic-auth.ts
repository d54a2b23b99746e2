import {
  BASIC_AUTH_OPTIONS,
  basicAuthentication,
  type BasicAuthOptions,
} from '../../src/http/basic-auth.js'
import type { HttpResponse } from '../../src/http/exchange.js'
import { thrownError } from '../../src/http/thrown-error.js'
import { withActor } from '../../src/recording/actor.js'
import { continueAsActor, keepActor } from './actor.js'
import { sendAnswer } from './exchange.js'
import {
  type FastifyPlugin,
  type FastifyReply,
  type FastifyRequest,
  sharedPlugin,
} from './fastify.js'
import { requireOptions } from '../../src/options.js'

/**
 * Fastify plugin for HTTP Basic authentication, in the hook `onRequest`. It sets `request.username` and
 * handles the request as that actor: events recorded without a username get this one. Other requests get a 401
 * with a challenge, or a 429 with `Retry-After` after too many failures. Failures are counted by `request.ip`:
 * set `trustProxy` behind a proxy. Errors of a `users` function go to the error handler of Fastify.
 */
export function basicAuth(options: BasicAuthOptions): FastifyPlugin {
  requireOptions(options, BASIC_AUTH_OPTIONS, 'basicAuth')
  const authenticate = basicAuthentication(options)

  /** The refusal, if any. */
  const identify = async (request: FastifyRequest): Promise<HttpResponse | undefined> => {
    const authorization = request.headers.authorization ?? ''
    const authentication = await authenticate(authorization, () => request.ip ?? '')
    if ('refusal' in authentication) return authentication.refusal
    request.username = authentication.username
    return undefined
  }

  const authenticateRequest = async (
    request: FastifyRequest,
    reply: FastifyReply,
    done: (error?: Error) => void,
  ): Promise<void> => {
    let refusal: HttpResponse | undefined
    try {
      refusal = await identify(request)
    } catch (error) {
      return done(thrownError(error))
    }
    if (refusal) return sendAnswer(request, reply, refusal)
    return withActor(request.username ?? null, () => {
      keepActor(request)
      done()
    })
  }

  return sharedPlugin('daybook-basic-auth', (app) => {
    if (!app.hasRequestDecorator('username')) app.decorateRequest('username', null)
    app.addHook('onRequest', (request, reply, done) => {
      void authenticateRequest(request, reply, done)
    })
    app.addHook('preValidation', continueAsActor)
  })
}
