import type { HttpRequest, HttpResponse } from '../../src/http/exchange.js'
import { type MountHost, noUser, type Respond } from '../../src/http/mounting/mounts.js'
import { sendResponse, toRequest as toNodeRequest } from '../../src/http/node/exchange.js'
import { thrownError } from '../../src/http/thrown-error.js'
import {
  type Done,
  type FastifyApp,
  type FastifyHandler,
  type FastifyPlugin,
  type FastifyReply,
  type FastifyRequest,
  refusingOptions,
  sharedPlugin,
} from './fastify.js'

const toRequest = (
  request: FastifyRequest,
  { raw }: FastifyReply,
  findUsername: () => string | null,
): HttpRequest<FastifyRequest> =>
  toNodeRequest({ request, response: raw, incoming: request.raw }, findUsername)

/** Sends a response past Fastify, with the headers that hooks have set. */
async function sendAnswer(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: HttpResponse,
): Promise<void> {
  reply.hijack()
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) reply.raw.setHeader(name, value)
  try {
    await sendResponse({ request, response: reply.raw }, answer)
  } catch (error) {
    // The stream is cut off, so the client knows.
    request.log.error(error)
  }
}

/** Adds a hook that answers requests before their handlers. Without an answer it calls `proceed`. */
export function answerFirst(
  app: FastifyApp,
  handle: (
    request: FastifyRequest,
    reply: FastifyReply,
  ) => Promise<HttpResponse | undefined> | undefined,
  proceed = (_request: FastifyRequest, done: Done): void => done(),
): void {
  const answer = async (
    request: FastifyRequest,
    reply: FastifyReply,
    done: Done,
  ): Promise<void> => {
    let response: HttpResponse | undefined
    try {
      const handled = handle(request, reply)
      response = handled && (await handled)
    } catch (error) {
      return done(thrownError(error))
    }
    return response ? sendAnswer(request, reply, response) : proceed(request, done)
  }
  app.addHook('onRequest', (request, reply, done) => {
    void answer(request, reply, done)
  })
}

const ownHandlers = new WeakSet<object>()

/** True for handlers of the feed and the page, whose requests are not recorded. */
export const isOwnHandler = (handler: object): boolean => ownHandlers.has(handler)

/** Plugins that serve an endpoint at its paths. It reads and checks the bodies itself. */
export const host: MountHost<FastifyRequest, FastifyPlugin> = {
  mount: (endpoint, findUsername, paths) =>
    refusingOptions((app) => {
      app.removeAllContentTypeParsers()
      app.addContentTypeParser('*', (_request, _payload, done) => done(null))
      const handler: FastifyHandler = async (request, reply) => {
        const answer = endpoint(toRequest(request, reply, () => findUsername(request)))
        if (!answer) return reply.callNotFound()
        await sendAnswer(request, reply, await answer)
        return reply
      }
      ownHandlers.add(handler)
      const { prefix } = app
      for (const path of paths) {
        const url =
          prefix !== '' && path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path
        app.all(url, handler)
        app.all(`${url}/*`, handler)
      }
    }),
}

/** Plugins that answer before the hooks of authentication. */
export const probes: MountHost<FastifyRequest, FastifyPlugin> = {
  mount: (endpoint) =>
    sharedPlugin('daybook-audit-health', (app) =>
      answerFirst(app, (request, reply) => endpoint(toRequest(request, reply, noUser))),
    ),
}

export const listHandler = (respond: Respond<FastifyRequest>): FastifyHandler =>
  async function listRoute(request, reply) {
    await sendAnswer(request, reply, await respond(toRequest(request, reply, noUser)))
    return reply
  }
