import {
  type BasicAuth,
  basicAuthentication,
  type BasicAuthOptions,
} from '../../src/http/basic-auth.js'
import { withActor } from '../../src/recording/actor.js'
import { continueAsActor, keepActor } from './actor.js'
import { answerFirst } from './exchange.js'
import { type FastifyPlugin, sharedPlugin } from './fastify.js'

/**
 * Fastify plugin that sets `request.username`, in the hook `onRequest`. Failures are counted by `request.ip`: set `trustProxy` behind
 * a proxy.
 */
export const basicAuth: BasicAuth<BasicAuthOptions, FastifyPlugin> = (options) => {
  const authenticate = basicAuthentication(options)
  return sharedPlugin('daybook-basic-auth', (app) => {
    if (!app.hasRequestDecorator('username')) app.decorateRequest('username', null)
    answerFirst(
      app,
      async (request) => {
        const authorization = request.headers.authorization ?? ''
        const authentication = await authenticate(authorization, () => request.ip ?? '')
        if ('refusal' in authentication) return authentication.refusal
        request.username = authentication.username
        return undefined
      },
      (request, done) =>
        withActor(request.username ?? null, () => {
          keepActor(request)
          done()
        }),
    )
    app.addHook('preValidation', continueAsActor)
  })
}
