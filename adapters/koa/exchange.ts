import type { Endpoint, HttpRequest, HttpResponse } from '../../src/http/exchange.js'
import type { FindUsername, MountHost } from '../../src/http/mounting/mounts.js'
import { createRequest, readBody, readTarget } from '../../src/http/node-request.js'
import { sendStream } from '../../src/http/send-stream.js'
import { responseHeaders } from '../../src/http/response-headers.js'
import type { KoaContext, KoaMiddleware, RoutedContext } from './koa.js'

/** The user that `basicAuth` has found. */
export const foundUser = ({ state }: KoaContext): unknown => state['username']

/** Path and query as sent by the client; in a mounted app `ctx.path` lacks the mount path. */
export function targetOf(ctx: KoaContext): ReturnType<typeof readTarget> {
  // Under Express and Connect `ctx.originalUrl` lacks the mount path too.
  const { originalUrl = ctx.originalUrl } = ctx.req as { originalUrl?: string }
  return readTarget(originalUrl)
}

export function toRequest<Context extends KoaContext>(
  ctx: Context,
  findUsername: () => string | null,
): HttpRequest<Context> {
  return createRequest({
    context: ctx,
    response: ctx.res,
    findUsername,
    method: ctx.method,
    ...targetOf(ctx),
    header: (name) => ctx.get(name),
    body: (maxBytes) => readBody(ctx.req, ctx.request, maxBytes),
  })
}

export function sendResponse(ctx: KoaContext, response: HttpResponse): void {
  ctx.status = response.status
  ctx.set(responseHeaders(ctx.res, response.headers))
  const { body } = response
  // Koa would change the status of a response without a body to 204.
  if (body === undefined || typeof body === 'string') ctx.body = body ?? ''
  else if (body instanceof Uint8Array)
    ctx.body = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  else {
    // Koa would report every disconnected client as an error of the app.
    ctx.respond = false
    sendStream(ctx.res, body).catch((error: unknown) => ctx.app.emit('error', error, ctx))
  }
  if (body === undefined) ctx.remove('content-type')
}

/** Middleware that serves an endpoint, and passes other requests on. */
export function mount(
  endpoint: Endpoint<RoutedContext>,
  findUsername: FindUsername<KoaContext>,
): KoaMiddleware {
  return async function mountedEndpoint(ctx, next) {
    const response = endpoint(toRequest(ctx, () => findUsername(ctx)))
    if (!response) return next()
    sendResponse(ctx, await response)
    return undefined
  }
}

export const host: MountHost<KoaContext, KoaMiddleware> = {
  mount,
  username: foundUser,
  // Nested apps make contexts of their own.
  keyOf: ({ req }) => req,
}
