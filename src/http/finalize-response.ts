import { createHash, hash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import Negotiator from 'negotiator'
import { createTimeSlices } from '../filter/time-slices.js'
import type { Content, HttpRequest, HttpResponse } from './exchange.js'
import { checkHeaderSize } from './header-size.js'
import { HttpProblem } from './problem.js'
import { isBytes } from '../event/realm.js'

/** In order of preference when the client accepts several equally. */
const CODINGS = ['br', 'gzip', 'identity'] as const

type Coding = (typeof CODINGS)[number]

/** Compresses a body with the given content coding. */
export type Compress = (coding: Exclude<Coding, 'identity'>, text: Content) => Promise<Uint8Array>

const brotli = promisify(brotliCompress)
const deflate = promisify(gzip)

const MODE = {
  [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
  [constants.BROTLI_PARAM_QUALITY]: 1,
}

// The lowest levels: the documents are so repetitive that higher levels save a tenth and take twice as long.
const compressFast: Compress = (coding, text) =>
  coding === 'br' ? brotli(text, { params: MODE }) : deflate(text, { level: 1 })

/** Compresses at the highest levels, for static content that is compressed once and sent often. */
export const compressBest: Compress = (coding, text) =>
  coding === 'br' ? brotli(text) : deflate(text, { level: 9 })

/** Shorter bodies are not worth compressing. */
const MIN_BYTES = 1024

/** Parsed `Accept-Encoding` headers: clients send few different ones. */
const acceptable = new LRUCache<string, readonly Coding[]>({
  max: 100,
  memoMethod(accept) {
    // The type declarations of negotiator lack `preferred`.
    const negotiator: {
      encodings(available: readonly string[], options: { preferred: readonly string[] }): string[]
    } = new Negotiator({ headers: { 'accept-encoding': accept } })
    return negotiator.encodings(CODINGS, { preferred: CODINGS }) as Coding[]
  },
})

/** RFC 9110, section 12.5.3. Throws 406 if the client accepts none of the codings. */
function codingOf(body: Content, accept: string): Coding {
  if (accept === '') return 'identity'
  checkHeaderSize('accept-encoding', accept)
  const codings = acceptable.memo(accept)
  const [best] = codings
  if (best === undefined)
    throw new HttpProblem(
      'NOT_ACCEPTABLE',
      `accept-encoding must allow one of ${CODINGS.join(', ')}; it is ${JSON.stringify(accept)}`,
      { header: 'accept-encoding' },
    )
  const isSmall = Buffer.byteLength(body) < MIN_BYTES
  return isSmall && codings.includes('identity') ? 'identity' : best
}

/** A weak entity tag, because the same text may be sent in several codings (RFC 9110, section 8.8.1). */
export const entityTag = (text: Content): string => `W/"${hash('sha1', text, 'base64url')}"`

/** Number of characters or bytes that are hashed at once. */
const HASHED_AT_ONCE = 1024 * 1024

/** Like {@link entityTag}; a promise for a large text, between whose parts the event loop turns. */
export const entityTagInTurns = (text: Content): string | Promise<string> =>
  text.length <= HASHED_AT_ONCE ? entityTag(text) : hashInTurns(text)

async function hashInTurns(text: Content): Promise<string> {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  const slices = createTimeSlices()
  const digest = createHash('sha1')
  for (let from = 0; from < bytes.length; from += HASHED_AT_ONCE) {
    digest.update(bytes.subarray(from, from + HASHED_AT_ONCE))
    if (slices.isOver()) await slices.next()
  }
  return `W/"${digest.digest('base64url')}"`
}

/** RFC 9110, section 13.1.2: weak comparison, so only the opaque tags in quotes count. */
function matchesTag(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch === '') return false
  if (ifNoneMatch.trim() === '*') return true
  const opaque = tag.slice(tag.indexOf('"'))
  return new Set(ifNoneMatch.match(/"[^"]*"/g)).has(opaque)
}

const isContent = (body: HttpResponse['body']): body is Content =>
  typeof body === 'string' || isBytes(body)

const givenTag = ({ headers }: HttpResponse): string | undefined => headers['etag']

const isRead = ({ method, hasBodyQuery = false }: HttpRequest): boolean =>
  hasBodyQuery || method === 'GET' || method === 'HEAD'

/**
 * The tag of a part: the characters of that of a whole with the same body, from the last to the first. A 304 keeps the
 * stored status, so the two must differ.
 */
const tagOfPart = (tag: string): string =>
  tag.replace(/(?<=").*(?=")/, (opaque) => Array.from(opaque).toReversed().join(''))

/**
 * Adds an entity tag to the response to a request that reads, responds 304 without a body if the
 * client already has it, and compresses the body if the client accepts that. Errors, streams and other
 * responses are returned unchanged. A response that no cache may store gets no entity tag. A promise only if there is something to wait for.
 */
export function finalizeResponse(
  request: HttpRequest,
  response: HttpResponse,
  compress: Compress = compressFast,
): HttpResponse | Promise<HttpResponse> {
  const { status, headers, body } = response
  if (!isContent(body) || !isRead(request)) return response
  if (status !== 200 && status !== 206) return response
  if (headers['cache-control'] === 'no-store')
    return encoded(request, { ...response, body }, compress)
  const etag = givenTag(response) ?? entityTagInTurns(body)
  const finish = (tag: string): HttpResponse | Promise<HttpResponse> =>
    finishTagged(
      request,
      { status, headers: { ...headers, etag: status === 206 ? tagOfPart(tag) : tag }, body },
      compress,
    )
  return typeof etag === 'string' ? finish(etag) : etag.then(finish)
}

interface TaggedResponse extends HttpResponse {
  readonly headers: Readonly<Record<string, string>> & { readonly etag: string }
  readonly body: Content
}

function finishTagged(
  request: HttpRequest,
  response: TaggedResponse,
  compress: Compress,
): HttpResponse | Promise<HttpResponse> {
  const { headers } = response
  // Of other methods, this header would ask for 412 (RFC 9110, section 13.1.2).
  if (!request.hasBodyQuery && matchesTag(request.header('if-none-match'), headers.etag)) {
    const { 'content-type': _, ...kept } = headers
    return { status: 304, headers: kept, body: undefined }
  }
  return encoded(request, response, compress)
}

function encoded(
  request: HttpRequest,
  response: HttpResponse & { readonly body: Content },
  compress: Compress,
): HttpResponse | Promise<HttpResponse> {
  const coding = codingOf(response.body, request.header('accept-encoding'))
  return coding === 'identity' ? response : compressed(response, coding, compress)
}

async function compressed(
  { status, headers, body }: HttpResponse & { readonly body: Content },
  coding: Exclude<Coding, 'identity'>,
  compress: Compress,
): Promise<HttpResponse> {
  const bytes = await compress(coding, body)
  return { status, headers: { ...headers, 'content-encoding': coding }, body: bytes }
}
