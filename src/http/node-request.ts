import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { HttpRequest } from './exchange.js'
import { FORM } from './media.js'
import { HttpProblem } from './problem.js'
import { isBytes } from '../event/realm.js'

const ABSOLUTE_FORM = /^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i

/** Path and query of a request target in origin form or absolute form (RFC 9112, section 3.2). */
export function readTarget(target: string): { readonly path: string; readonly query: string } {
  const text = target.startsWith('/') ? target : target.replace(ABSOLUTE_FORM, '')
  const at = text.indexOf('?')
  if (at === -1) return { path: text, query: '' }
  return { path: text.slice(0, at), query: text.slice(at + 1) }
}

/** A request on which a body parser of the host may have left the body. */
interface ParsedBody {
  readonly body?: unknown
  readonly rawBody?: unknown
}

export const tooLarge = (maxBytes: number): HttpProblem =>
  new HttpProblem('BODY_TOO_LARGE', `the body may have at most ${maxBytes} bytes`)

export const malformed = (detail: string): HttpProblem =>
  new HttpProblem('MALFORMED_DOCUMENT', detail)

/** Reads a refused body to its end too, so that the client receives the response. */
function readStream(request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const endedEarly = (): void => reject(malformed('the body ended early'))
    if (request.destroyed) return endedEarly()
    const chunks: Buffer[] = []
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= maxBytes) chunks.push(chunk)
      else {
        chunks.length = 0
        reject(tooLarge(maxBytes))
      }
    })
    request.once('end', () => resolve(Buffer.concat(chunks)))
    request.once('error', endedEarly)
    request.once('close', endedEarly)
    return undefined
  })
}

/**
 * A form that a body parser has read, as a form again. Parsers give nested objects and lists, or the names as they
 * were sent.
 */
function formText(parsed: object, at?: string): string {
  const isList = Array.isArray(parsed)
  return Object.entries(parsed)
    .flatMap(([key, value]: [string, unknown]) => {
      const isNested = typeof value === 'object' && value !== null
      const inList = isList && !isNested ? '' : key
      const name = at === undefined ? key : `${at}[${inList}]`
      if (!isNested) return `${encodeName(name)}=${encodeURIComponent(value as string)}`
      const isRepeated = Array.isArray(value) && name.endsWith('[]')
      return formText(value, isRepeated ? name.slice(0, -2) : name)
    })
    .join('&')
}

// Brackets need no encoding, and would make the text longer than the one that was sent.
const encodeName = (name: string): string =>
  encodeURIComponent(name).replaceAll('%5B', '[').replaceAll('%5D', ']')

function parsedBytes({ body, rawBody }: ParsedBody, isForm: boolean): Uint8Array {
  const parsed = rawBody ?? body
  if (isBytes(parsed)) return parsed
  if (typeof parsed === 'string') return Buffer.from(parsed)
  if (parsed === undefined)
    throw new Error('the request body was already read, and neither body nor rawBody contains it')
  try {
    return Buffer.from(isForm ? formText(Object(parsed) as object) : JSON.stringify(parsed))
  } catch (error) {
    // Parsers accept deeper nesting than JSON.stringify can write.
    if (error instanceof RangeError) throw malformed('the body is nested too deeply')
    throw error
  }
}

/** Throws `HttpProblem` 415 for a compressed body, and 413 if its `content-length` is above `maxBytes`. */
export function checkBodyHeaders(header: (name: string) => unknown, maxBytes: number): void {
  if (header('content-encoding'))
    throw new HttpProblem('UNSUPPORTED_MEDIA_TYPE', 'the body must not be compressed')
  if (Number(header('content-length')) > maxBytes) throw tooLarge(maxBytes)
}

/**
 * The bytes of a body, from the request or from the values that a body parser has left on it. Throws `HttpProblem`
 * 413 for more than `maxBytes`, 415 for a compressed body, 400 if the client aborted.
 */
export async function readBody(
  request: IncomingMessage,
  parsed: ParsedBody,
  maxBytes: number,
): Promise<Uint8Array> {
  checkBodyHeaders((name) => request.headers[name], maxBytes)
  if (!request.readableEnded) return readStream(request, maxBytes)
  const isForm = request.headers['content-type']?.toLowerCase().startsWith(FORM) ?? false
  const bytes = parsedBytes(parsed, isForm)
  if (bytes.length > maxBytes) throw tooLarge(maxBytes)
  return bytes
}

/** By connection: responses that were queued behind others (pipelining) and have not closed. */
const queues = new WeakMap<Socket, Set<ServerResponse>>()

function closeResponse(response: ServerResponse): void {
  response.destroy()
  // Emit `close` only if this version of Node does not emit it for a queued response.
  process.nextTick(() => {
    if (!response.closed) response.emit('close')
  })
}

/** One listener per connection, because a client may pipeline any number of requests. */
function queueOf(socket: Socket): Set<ServerResponse> {
  const known = queues.get(socket)
  if (known) return known
  const queue = new Set<ServerResponse>()
  queues.set(socket, queue)
  socket.once('close', () => {
    for (const response of queue) closeResponse(response)
  })
  return queue
}

/**
 * If the response is queued behind another one on its connection (pipelining), destroys it when the
 * connection closes and makes it emit `close`. Node does this for the response at the head of the queue,
 * but not in all versions for those behind it.
 */
export function closeWithConnection(response: ServerResponse): void {
  if (response.destroyed || response.socket !== null) return
  const { socket } = response.req
  // The `close` event of the socket has already been emitted.
  if (socket.closed) return closeResponse(response)
  const queue = queueOf(socket)
  queue.add(response)
  response.once('close', () => queue.delete(response))
}

// One for all requests: the stack trace of a new error costs more than the rest of a signal.
const CLOSED = new DOMException('the response was sent or its client disconnected', 'AbortError')

/** A signal that aborts when the client disconnects or the response has been sent. */
export function disconnectSignal(response: ServerResponse): AbortSignal {
  closeWithConnection(response)
  const controller = new AbortController()
  if (response.destroyed) controller.abort(CLOSED)
  else response.once('close', () => controller.abort(CLOSED))
  return controller.signal
}

/** A request as an adapter has it when it arrives. */
export type Arrived<Context> = Omit<HttpRequest<Context>, 'username' | 'signal'> & {
  readonly response: ServerResponse
  /** The authenticated user, or null. */
  readonly findUsername: () => string | null
}

/**
 * A request of Node's server. A class, because an object with getters would get a hidden class of its own
 * for each request, which V8 frees together with the request only in its slow garbage collection.
 */
class ServerRequest<Context> implements HttpRequest<Context> {
  readonly context: Context
  readonly method: string
  readonly path: string
  readonly query: string
  readonly header: (name: string) => string
  readonly body: (maxBytes: number) => Promise<Uint8Array>
  readonly #response: ServerResponse
  readonly #findUsername: () => string | null
  #signal: AbortSignal | undefined

  constructor(arrived: Arrived<Context>) {
    this.context = arrived.context
    this.method = arrived.method
    this.path = arrived.path
    this.query = arrived.query
    this.header = arrived.header
    this.body = arrived.body
    this.#response = arrived.response
    this.#findUsername = arrived.findUsername
  }

  get username(): string | null {
    return this.#findUsername()
  }

  /** Created on first use, because few requests need it. */
  get signal(): AbortSignal {
    return (this.#signal ??= disconnectSignal(this.#response))
  }
}

export const createRequest = <Context>(arrived: Arrived<Context>): HttpRequest<Context> =>
  new ServerRequest(arrived)
