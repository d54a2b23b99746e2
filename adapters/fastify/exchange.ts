import type { HttpRequest, HttpResponse } from '../../src/http/exchange.js'
import { sendResponse } from '../../src/http/node/exchange.js'
import { createRequest, readBody, readTarget } from '../../src/http/node-request.js'
import { markAsOwn } from '../../src/http/record/own-request.js'
import type { FastifyApp, FastifyReply, FastifyRequest } from './fastify.js'

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

export type Endpoint = (
  request: FastifyRequest,
  reply: FastifyReply,
) => HttpResponse | undefined | Promise<HttpResponse | undefined>

const ownHandlers = new WeakSet<object>()

/** True for handlers of the feed and the page, whose requests are not recorded. */
export const isOwnHandler = (handler: object): boolean => ownHandlers.has(handler)

/** Serves all requests at the path and under it. The endpoint reads and checks the bodies itself. */
export function mountEndpoint(app: FastifyApp, path: string, endpoint: Endpoint): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const answer = await endpoint(request, reply)
    if (!answer) return reply.callNotFound()
    markAsOwn(request)
    await sendAnswer(request, reply, answer)
    return reply
  }
  ownHandlers.add(handler)
  const { prefix } = app
  const url = prefix !== '' && path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path
  app.all(url, handler)
  app.all(`${url}/*`, handler)
}
