import { Readable } from 'node:stream'
import type { HttpRequest, HttpResponse } from '../../src/http/exchange.js'
import { HttpProblem } from '../../src/http/problem.js'
import type { KoaContext } from './koa.js'

export interface UsernameOption {
  /**
   * The authenticated user of a request, null where there is none.
   * @default `ctx.state.username`, as {@link basicAuth} sets it
   */
  username?(ctx: KoaContext): string | null
}

export function usernameOf(ctx: KoaContext, options: UsernameOption): string | null {
  if (options.username) return options.username(ctx)
  const { username } = ctx.state
  return typeof username === 'string' ? username : null
}

const tooLarge = (maxBytes: number): HttpProblem =>
  new HttpProblem('BODY_TOO_LARGE', `the body may have at most ${maxBytes} bytes`)

/** Reads to the end even what is refused, so that the client gets to see the answer. */
function readStream(ctx: KoaContext, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const { req } = ctx
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= maxBytes) chunks.push(chunk)
      else {
        chunks.length = 0
        reject(tooLarge(maxBytes))
      }
    })
    req.once('end', () => resolve(Buffer.concat(chunks)))
    req.once('error', reject)
    req.once('close', () => reject(new HttpProblem('MALFORMED_DOCUMENT', 'the body ended early')))
  })
}

/** What a body parser of the host's may have left. */
interface ParsedRequest {
  readonly body?: unknown
  readonly rawBody?: unknown
}

async function readBody(ctx: KoaContext, maxBytes: number): Promise<Uint8Array> {
  if (ctx.get('content-encoding') !== '')
    throw new HttpProblem('UNSUPPORTED_MEDIA_TYPE', 'the body must not be compressed')
  if (Number(ctx.get('content-length')) > maxBytes) throw tooLarge(maxBytes)
  if (!ctx.req.readableEnded) return readStream(ctx, maxBytes)
  const { body, rawBody } = ctx.request as ParsedRequest
  const bytes = Buffer.from(typeof rawBody === 'string' ? rawBody : (JSON.stringify(body) ?? ''))
  if (bytes.length > maxBytes) throw tooLarge(maxBytes)
  return bytes
}

/** Few requests ask, so that the others need not pay for it. */
function whenGone({ res }: KoaContext): AbortSignal {
  const controller = new AbortController()
  if (res.destroyed) controller.abort()
  else res.once('close', () => controller.abort())
  return controller.signal
}

export function toRequest<Context extends KoaContext>(
  ctx: Context,
  username: string | null,
): HttpRequest<Context> {
  let gone: AbortSignal | undefined
  return {
    context: ctx,
    get signal() {
      return (gone ??= whenGone(ctx))
    },
    method: ctx.method,
    path: ctx.path,
    query: ctx.querystring,
    username,
    header: (name) => ctx.get(name),
    body: (maxBytes) => readBody(ctx, maxBytes),
  }
}

export function sendResponse(ctx: KoaContext, response: HttpResponse): void {
  ctx.status = response.status
  ctx.set({ ...response.headers })
  const { body } = response
  // Koa would turn a status without body into 204.
  if (body === undefined || typeof body === 'string') ctx.body = body ?? ''
  else
    ctx.body =
      body instanceof Uint8Array
        ? Buffer.from(body.buffer, body.byteOffset, body.byteLength)
        : Readable.from(body)
  if (body === undefined) ctx.remove('content-type')
}
