import { MIMEType } from 'node:util'
import Negotiator from 'negotiator'
import type { Content, HttpResponse } from './exchange.js'
import { HttpProblem, JSON_API } from './problem.js'

/** What an answer depends on beside its address; a client may keep it, and asks whether it still holds. */
export const CACHE_HEADERS = {
  vary: 'Accept, Accept-Encoding',
  'cache-control': 'private, no-cache',
}

/** An answer whose body is a JSON:API document. */
export function jsonResponse(status: number, body: Content): HttpResponse {
  return { status, headers: { 'content-type': JSON_API, ...CACHE_HEADERS }, body }
}

/** Media types that clients ask for and mean the one offered. */
const ALIASES: Readonly<Record<string, readonly string[]>> = { [JSON_API]: ['application/json'] }

/** One of the media types, or ranges of them, that a client takes. */
interface MediaRange {
  readonly essence: string
  readonly parameters: readonly string[]
  readonly quality: number
}

function parseMedia(text: string): MIMEType | undefined {
  try {
    return new MIMEType(text)
  } catch {
    return undefined
  }
}

/** RFC 9110, section 12.5.1; what cannot be read is passed over. */
function readRanges(accept: string): MediaRange[] {
  // Commas within quotes part nothing: `profile="https://example.org/a,b"`.
  const parts = accept.match(/(?:[^,"]|"(?:\\.|[^"\\])*"?)+/gs) ?? []
  return parts.flatMap((part) => {
    const media = parseMedia(part)
    if (!media) return []
    const quality = Number(media.params.get('q') ?? 1)
    return { essence: media.essence, parameters: [...media.params.keys()], quality }
  })
}

/** JSON:API 1.1, "Server Responsibilities": profiles may be passed over, no extension is supported. */
const isAccepted = ({ essence, parameters, quality }: MediaRange): boolean =>
  quality > 0 &&
  (essence !== JSON_API || parameters.every((name) => name === 'profile' || name === 'q'))

/**
 * Throws 406 unless the client takes the media type that is offered. JSON is what JSON:API is made
 * of: who asks for that, or says nothing, gets it.
 */
export function checkAccept(accept: string, offered = JSON_API): void {
  if (accept === '' || accept === '*/*' || accept === offered) return
  const ranges = readRanges(accept)
  const wholeType = `${offered.slice(0, offered.indexOf('/'))}/*`
  // The most particular ranges decide; of JSON:API all with parameters is 406 whatever else is taken.
  for (const names of [[offered], ALIASES[offered] ?? [], [wholeType], ['*/*']]) {
    const named = ranges.filter(({ essence }) => names.includes(essence))
    if (named.some(isAccepted)) return
    if (named.length > 0) break
  }
  const parameters = offered === JSON_API ? ', with no parameter but profile' : ''
  throw notAcceptable(accept, `${offered}${parameters}`)
}

/** The one that the client likes best, the first of those it likes alike; throws 406 where it takes none. */
export function negotiateMediaType<Type extends string>(
  accept: string,
  offered: readonly Type[],
): Type {
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

/** JSON:API 1.1, "Server Responsibilities"; `charset=utf-8` is common and says nothing new. */
export function checkMediaType(contentType: string): void {
  if (contentType === JSON_API) return
  const media = parseMedia(contentType)
  if (media?.essence === JSON_API && [...media.params].every(isAllowed)) return
  const given = contentType === '' ? 'none' : JSON.stringify(contentType)
  throw new HttpProblem(
    'UNSUPPORTED_MEDIA_TYPE',
    `content-type must be ${JSON_API}, with no parameter but profile and charset=utf-8; it is ${given}`,
    { header: 'content-type' },
  )
}
