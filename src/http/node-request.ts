import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { HttpProblem } from './problem.js'

const ABSOLUTE_FORM = /^[a-z][a-z0-9+.-]*:\/\/[^/?]*/i

/** Path and query of a request target in origin form or absolute form (RFC 9112, section 3.2). */
export function readTarget(target: string): { readonly path: string; readonly query: string } {
  const text = target.startsWith('/') ? target : target.replace(ABSOLUTE_FORM, '')
  const at = text.indexOf('?')
  if (at === -1) return { path: text, query: '' }
  return { path: text.slice(0, at), query: text.slice(at + 1) }
}

/** What a body parser of the host's may have left of a request. */
interface ParsedBody {
  readonly body?: unknown
  readonly rawBody?: unknown
}

const tooLarge = (maxBytes: number): HttpProblem =>
  new HttpProblem('BODY_TOO_LARGE', `the body may have at most ${maxBytes} bytes`)

const malformed = (detail: string): HttpProblem => new HttpProblem('MALFORMED_DOCUMENT', detail)

/** Reads to the end even what is refused, so that the client gets to see the answer. */
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

function parsedBytes({ body, rawBody }: ParsedBody): Uint8Array {
  const left = rawBody ?? body
  if (left instanceof Uint8Array) return left
  if (typeof left === 'string') return Buffer.from(left)
  if (left === undefined)
    throw new Error('the body of the request was read, and neither body nor rawBody holds it')
  try {
    return Buffer.from(JSON.stringify(left))
  } catch (error) {
    // Parsers take deeper nesting than can be written again.
    if (error instanceof RangeError) throw malformed('the body is nested too deeply')
    throw error
  }
}

/**
 * The bytes of a body, from the request or from what a parser has left. Throws `HttpProblem` 413 for
 * more than `maxBytes`, 415 where they are compressed, 400 where the client broke off.
 */
export async function readBody(
  request: IncomingMessage,
  parsed: ParsedBody,
  maxBytes: number,
): Promise<Uint8Array> {
  const { headers } = request
  if (headers['content-encoding'])
    throw new HttpProblem('UNSUPPORTED_MEDIA_TYPE', 'the body must not be compressed')
  if (Number(headers['content-length']) > maxBytes) throw tooLarge(maxBytes)
  if (!request.readableEnded) return readStream(request, maxBytes)
  const bytes = parsedBytes(parsed)
  if (bytes.length > maxBytes) throw tooLarge(maxBytes)
  return bytes
}

/** The responses that came to wait for those before them and have not closed, by their connection. */
const queues = new WeakMap<Socket, Set<ServerResponse>>()

function closeResponse(response: ServerResponse): void {
  response.destroy()
  // Where Node itself emits it for such a response, it has done so by then.
  process.nextTick(() => {
    if (!response.closed) response.emit('close')
  })
}

/** One listener for each connection: a client may send as many requests ahead as it likes. */
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
 * Where the response waits behind another one on its connection (pipelining): destroys it when the
 * connection ends, and has it emit `close`. For a response whose turn it is Node does so by itself; for
 * those that wait not in all versions.
 */
export function closeWithConnection(response: ServerResponse): void {
  if (response.destroyed || response.socket !== null) return
  const { socket } = response.req
  // Too late to be told.
  if (socket.closed) return closeResponse(response)
  const queue = queueOf(socket)
  queue.add(response)
  response.once('close', () => queue.delete(response))
}

/** Aborted once the client is gone, or has its response. */
export function disconnectSignal(response: ServerResponse): AbortSignal {
  closeWithConnection(response)
  const controller = new AbortController()
  if (response.destroyed) controller.abort()
  else response.once('close', () => controller.abort())
  return controller.signal
}
