import type { HttpRequest, HttpResponse } from '../../src/http/exchange.js'
import { readBody, readTarget, disconnectSignal } from '../../src/http/node-request.js'
import { sendStream } from '../../src/http/send-stream.js'
import { mergeVary } from '../../src/http/vary.js'
import type { KoaContext } from './koa.js'

export interface UsernameOption {
  /**
   * The authenticated user of a request, null where there is none.
   * @default `ctx.state.username`, as {@link basicAuth} sets it
   */
  username?(ctx: KoaContext): string | null
}

export function usernameOf(ctx: KoaContext, options: UsernameOption): string | null {
  if (options.username) return options.username(ctx) || null
  const { username } = ctx.state
  return typeof username === 'string' ? username : null
}

/** What the client sent: of an app under a mount path Koa's `path` is only the rest. */
export function targetOf(ctx: KoaContext): ReturnType<typeof readTarget> {
  // Express and Connect cut even what Koa takes for the original one.
  const { originalUrl = ctx.originalUrl } = ctx.req as { originalUrl?: string }
  return readTarget(originalUrl)
}

export function toRequest<Context extends KoaContext>(
  ctx: Context,
  username: () => string | null,
): HttpRequest<Context> {
  let gone: AbortSignal | undefined
  return {
    context: ctx,
    get username() {
      return username()
    },
    // Few requests ask, so that the others need not pay for it.
    get signal() {
      return (gone ??= disconnectSignal(ctx.res))
    },
    method: ctx.method,
    ...targetOf(ctx),
    header: (name) => ctx.get(name),
    body: (maxBytes) => readBody(ctx.req, ctx.request, maxBytes),
  }
}

export function sendResponse(ctx: KoaContext, response: HttpResponse): void {
  ctx.status = response.status
  ctx.set({ ...mergeVary(ctx.res, response.headers) })
  const { body } = response
  // Koa would turn a status without body into 204.
  if (body === undefined || typeof body === 'string') ctx.body = body ?? ''
  else if (body instanceof Uint8Array)
    ctx.body = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  else {
    // Koa would report every client that leaves as an error of the app.
    ctx.respond = false
    sendStream(ctx.res, body).catch((error: unknown) => ctx.app.emit('error', error, ctx))
  }
  if (body === undefined) ctx.remove('content-type')
}
