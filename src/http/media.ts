import { MIMEType } from 'node:util'
import Negotiator from 'negotiator'
import type { Content, HttpResponse } from './exchange.js'
import { checkHeaderSize } from './header-size.js'
import { HttpProblem, JSON_API } from './problem.js'

export const FORM = 'application/x-www-form-urlencoded'

/** The response depends on these request headers; clients may cache it, but must revalidate it. */
export const CACHE_HEADERS = {
  vary: 'Accept, Accept-Encoding',
  'cache-control': 'private, no-cache',
}

/** A response whose body is a JSON:API document. */
export function jsonResponse(status: number, body: Content): HttpResponse {
  return { status, headers: { 'content-type': JSON_API, ...CACHE_HEADERS }, body }
}

/** Other media types by which clients request the one offered. */
const ALIASES: Readonly<Record<string, readonly string[]>> = { [JSON_API]: ['application/json'] }

/** A media range of an `Accept` header. */
interface MediaRange {
  readonly essence: string
  readonly parameters: readonly string[]
  readonly quality: number
}

function parseMedia(text: string): MIMEType | undefined {
  try {
    // MIMEType takes quadratic time on white space. The parameters that contain some are not used.
    return new MIMEType(text.replaceAll(/[ \t]+/g, ' '))
  } catch {
    return undefined
  }
}

/** Parses `Accept` (RFC 9110, section 12.5.1); invalid elements are ignored. */
function readRanges(accept: string): MediaRange[] {
  // Commas within quotes do not separate elements: `profile="https://example.org/a,b"`.
  const parts = accept.match(/(?:[^,"]|"(?:\\.|[^"\\])*"?)+/gs) ?? []
  return parts.flatMap((part) => {
    const media = parseMedia(part)
    if (!media) return []
    const quality = Number(media.params.get('q') ?? 1)
    return { essence: media.essence, parameters: [...media.params.keys()], quality }
  })
}

/** JSON:API 1.1, "Server Responsibilities": profiles may be ignored, extensions are not supported. */
const isAccepted = ({ essence, parameters, quality }: MediaRange): boolean =>
  quality > 0 &&
  (essence !== JSON_API || parameters.every((name) => name === 'profile' || name === 'q'))

/**
 * Throws 406 unless the client accepts the media type that is offered. A client that accepts
 * `application/json`, or sends no `Accept` header, accepts JSON:API.
 */
export function checkAccept(accept: string, offered = JSON_API): void {
  if (accept === '' || accept === '*/*' || accept === offered) return
  checkHeaderSize('accept', accept)
  const ranges = readRanges(accept)
  const wholeType = `${offered.slice(0, offered.indexOf('/'))}/*`
  // The most specific ranges decide. JSON:API requires 406 if all its ranges have parameters.
  for (const names of [[offered], ALIASES[offered] ?? [], [wholeType], ['*/*']]) {
    const named = ranges.filter(({ essence }) => names.includes(essence))
    if (named.some(isAccepted)) return
    if (named.length > 0) break
  }
  const parameters = offered === JSON_API ? ', with no parameter other than profile' : ''
  throw notAcceptable(accept, `${offered}${parameters}`)
}

/** The offered type that the client prefers, the first of equals. Throws 406 if it accepts none. */
export function negotiateMediaType<Type extends string>(
  accept: string,
  offered: readonly Type[],
): Type {
  checkHeaderSize('accept', accept)
  const negotiator = new Negotiator({ headers: { accept: accept || '*/*' } })
  const [best] = negotiator.mediaTypes([...offered])
  if (best === undefined) throw notAcceptable(accept, offered.join(' or '))
  return best as Type
}

const notAcceptable = (accept: string, offered: string): HttpProblem =>
  new HttpProblem(
    'NOT_ACCEPTABLE',
    `accept must allow ${offered}; it is ${JSON.stringify(accept)}`,
    { header: 'accept' },
  )

const isAllowed = ([name, value]: readonly [string, string]): boolean =>
  name === 'profile' || (name === 'charset' && value.toLowerCase() === 'utf-8')

/** Throws 415 (JSON:API 1.1, "Server Responsibilities"); `charset=utf-8` is common and tolerated. */
export function checkMediaType(contentType: string, expected = JSON_API): void {
  if (contentType === expected) return
  checkHeaderSize('content-type', contentType)
  const media = parseMedia(contentType)
  if (media?.essence === expected && [...media.params].every(isAllowed)) return
  const given = contentType === '' ? 'none' : JSON.stringify(contentType)
  throw new HttpProblem(
    'UNSUPPORTED_MEDIA_TYPE',
    `content-type must be ${expected}, with no parameter other than ${expected === JSON_API ? 'profile and ' : ''}charset=utf-8; it is ${given}`,
    { header: 'content-type' },
  )
}
