import type { HttpRequest, HttpResponse, HttpStream } from '../exchange.js'
import { readTarget } from '../node-request.js'
import { responseHeaders } from '../response-headers.js'
import { rethrow } from '../thrown-error.js'
import { readBody, type ReadAgain } from './read-body.js'
import { isBytes } from '../../event/realm.js'

/** A request as an adapter has it when it arrives. */
export interface Arrived<Context> {
  readonly context: Context
  readonly request: Request
  /** The authenticated user, or null. */
  readonly findUsername: () => string | null
  /** For frameworks that keep a body that middleware has read. */
  readonly readAgain?: ReadAgain
}

interface Navigated {
  readonly navigator?: { readonly userAgent?: string }
}

/**
 * Next.js removes `content-encoding` from responses, and a worker compresses a body with that header once more.
 * Both compress responses themselves.
 */
const isCompressedByHost = (request: Request): boolean =>
  'nextUrl' in request || (globalThis as Navigated).navigator?.userAgent === 'Cloudflare-Workers'

/** A fetch request. A class, so that no object with getters is made for each request. */
export class FetchHttpRequest<Context> implements HttpRequest<Context> {
  readonly context: Context
  readonly method: string
  readonly path: string
  readonly query: string
  readonly #arrived: Arrived<Context>
  #disconnected: AbortController | undefined

  constructor(arrived: Arrived<Context>) {
    const { context, request } = arrived
    const { path, query } = readTarget(request.url)
    this.context = context
    this.method = request.method
    this.path = path
    this.query = query
    this.#arrived = arrived
  }

  get username(): string | null {
    return this.#arrived.findUsername()
  }

  /** Created on first use, because few requests need it. */
  get signal(): AbortSignal {
    if (!this.#disconnected) {
      this.#disconnected = new AbortController()
      const { signal } = this.#arrived.request
      if (signal.aborted) this.disconnect()
      else signal.addEventListener('abort', () => this.disconnect(), { once: true })
    }
    return this.#disconnected.signal
  }

  /** Also called when a server cancels the response: not every server aborts the signal of the request. */
  disconnect(): void {
    this.#disconnected?.abort()
  }

  header(name: string): string {
    const { request } = this.#arrived
    if (name === 'accept-encoding' && isCompressedByHost(request)) return ''
    return request.headers.get(name) ?? ''
  }

  body(maxBytes: number): Promise<Uint8Array> {
    const { request, readAgain } = this.#arrived
    return readBody(request, maxBytes, readAgain)
  }
}

const encoder = new TextEncoder()

/** Ends a stream that is not read. */
const discard = (chunks: HttpStream): void => void chunks[Symbol.asyncIterator]().return?.()

/** Chunks are requested only when the server reads them. */
function readable(chunks: HttpStream, onCancel: () => void): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next().catch(rethrow)
        if (done) controller.close()
        else controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value)
      },
      async cancel() {
        onCancel()
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}

/** These have neither content nor a length (RFC 9110, section 8.6). */
const isBodiless = (status: number): boolean => status === 204 || status === 304

export interface ToResponseOptions {
  /** Called when the server cancels a stream. */
  readonly onCancel?: () => void
  /** Headers that the host has set on the response. */
  readonly prepared?: Headers | undefined
}

export function toResponse(
  { method }: Pick<Request, 'method'>,
  { status, headers: given, body = '' }: HttpResponse,
  { onCancel = () => {}, prepared }: ToResponseOptions = {},
): Response {
  const headers = responseHeaders({ getHeader: (name) => prepared?.get(name) ?? undefined }, given)
  const isHead = method === 'HEAD'
  if (typeof body !== 'string' && !isBytes(body)) {
    if (isHead) discard(body)
    return new Response(isHead ? null : readable(body, onCancel), { status, headers })
  }
  if (isBodiless(status)) return new Response(null, { status, headers })
  const length = Buffer.byteLength(body)
  // A response to an empty text would get a media type.
  return new Response(isHead || length === 0 ? null : (body as string), {
    status,
    headers: { ...headers, 'content-length': String(length) },
  })
}

/** The response of an endpoint to a request. */
export const respond = (
  request: FetchHttpRequest<unknown>,
  response: HttpResponse,
  prepared?: Headers,
): Response => toResponse(request, response, { onCancel: () => request.disconnect(), prepared })
