import { AuditLogError } from '../errors.js'
import { MAX_QUERY_BYTES } from '../filter/params.js'
import { type HttpRequest, withUser } from './exchange.js'
import { checkMediaType, FORM } from './media.js'
import { joinQueries } from './parameters.js'
import { preferredWait } from './prefer.js'
import { HttpProblem } from './problem.js'

/** A link: a path with a query, or what has to be posted to a path (JSON:API 1.1, "Link Objects"). */
export type Link = string | { readonly href: string; readonly meta: object }

const utf8 = new TextDecoder('utf-8', { fatal: true })

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw new AuditLogError('MALFORMED_PARAMETER', 'the body is not UTF-8', { cause })
  }
}

/** A body that is too long is a query that is too long, as in a URL. */
async function readBody(request: HttpRequest): Promise<string> {
  try {
    return decode(await request.body(MAX_QUERY_BYTES))
  } catch (error) {
    if (!(error instanceof HttpProblem) || error.code !== 'BODY_TOO_LARGE') throw error
    throw new AuditLogError(
      'QUERY_TOO_LARGE',
      `the body has more than ${MAX_QUERY_BYTES} bytes, the limit of a query`,
    )
  }
}

/**
 * The request with the parameters of its body, a form, after those of its URL. Throws `UNSUPPORTED_MEDIA_TYPE`,
 * `QUERY_TOO_LARGE`, `MALFORMED_PARAMETER`, and `INVALID_HEADER` for a request to wait.
 */
export async function withBodyQuery<Context>(
  request: HttpRequest<Context>,
  username: string,
): Promise<HttpRequest<Context>> {
  checkMediaType(request.header('content-type'), FORM)
  if (preferredWait(request.header('prefer')) !== undefined)
    throw new HttpProblem('INVALID_HEADER', NOT_FOLLOWED, { header: 'prefer' })
  const query = joinQueries(request.query, await readBody(request))
  return { ...withUser(request, username), query, hasBodyQuery: true }
}

/** Why the new events of such a query cannot be waited for. */
export const NOT_FOLLOWED =
  'a query in the body of a request is not followed: send it in the URL, or repeat the request'

/** The link that a request gets instead of one with this URL. */
export function linkFor({ hasBodyQuery }: Pick<HttpRequest, 'hasBodyQuery'>, url: string): Link {
  if (!hasBodyQuery) return url
  const [href = '', ...query] = url.split('?')
  return { href, meta: { method: 'POST', body: query.join('?') } }
}

/** The link to another page; `undefined` if its query is longer than a body may be. */
export const pageLinkFor = (
  request: Pick<HttpRequest, 'hasBodyQuery'>,
  url: string,
): Link | undefined =>
  request.hasBodyQuery && Buffer.byteLength(url) > MAX_QUERY_BYTES
    ? undefined
    : linkFor(request, url)
