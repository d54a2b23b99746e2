import type { Endpoint, HttpRequest, HttpResponse } from '../../src/http/exchange.js'
import { sendResponse } from '../../src/http/node/exchange.js'
import { createRequest, readBody, readTarget } from '../../src/http/node-request.js'
import { answerOwn } from '../../src/http/record/own-request.js'
import {
  type FastifyApp,
  type FastifyPlugin,
  type FastifyReply,
  type FastifyRequest,
  refusingOptions,
} from './fastify.js'

export function toRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  findUsername: () => string | null,
): HttpRequest<FastifyRequest> {
  return createRequest({
    context: request,
    response: reply.raw,
    findUsername,
    method: request.method ?? '',
    ...readTarget(request.originalUrl ?? request.url ?? ''),
    header: (name) => String(request.headers[name] ?? ''),
    body: (maxBytes) => readBody(request.raw, request, maxBytes),
  })
}

/** Sends a response past Fastify, with the headers that hooks have set. */
export async function sendAnswer(
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

type Handle = (request: FastifyRequest, reply: FastifyReply) => Promise<HttpResponse> | undefined

const ownHandlers = new WeakSet<object>()

/** True for handlers of the feed and the page, whose requests are not recorded. */
export const isOwnHandler = (handler: object): boolean => ownHandlers.has(handler)

/** Serves all requests at the path and under it. The endpoint reads and checks the bodies itself. */
export function mountEndpoint(app: FastifyApp, path: string, handle: Handle): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const answer = handle(request, reply)
    if (!answer) return reply.callNotFound()
    await sendAnswer(request, reply, await answerOwn(request, answer))
    return reply
  }
  ownHandlers.add(handler)
  const { prefix } = app
  const url = prefix !== '' && path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path
  app.all(url, handler)
  app.all(`${url}/*`, handler)
}

/** A plugin that serves an endpoint at its paths. Requests to it are not recorded. */
export function endpointPlugin(
  endpoint: Endpoint<FastifyRequest>,
  paths: readonly string[],
  findUsername: (request: FastifyRequest) => string | null,
): FastifyPlugin {
  return refusingOptions((app) => {
    for (const path of paths)
      mountEndpoint(app, path, (request, reply) =>
        endpoint(toRequest(request, reply, () => findUsername(request))),
      )
  })
}
