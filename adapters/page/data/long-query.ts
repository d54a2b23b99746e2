/* Queries that are too long for a URL. */

/** In characters. Servers and proxies take at least 8 KiB of a request line. */
const MAX_URL = 7000

/** Where the service takes the query of a list or of counts in a body. */
const SEARCH_PATHS: ReadonlyMap<string, string> = new Map([
  ['', '/search'],
  ['/counts', '/counts'],
])

/** Whether the query is too long for a URL, and so for a stream. */
export const isTooLong = (query: string): boolean => query.length > MAX_URL

/** A request, by its path below that of the feed. */
export interface FeedRequest {
  readonly path: string
  readonly method?: 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** The request for a path with a query; for a long one of a list or of counts with the query in the body. */
export function requestFor(path: string, headers: Readonly<Record<string, string>>): FeedRequest {
  const [endpoint = '', ...query] = path.split('?')
  const search = isTooLong(path) ? SEARCH_PATHS.get(endpoint) : undefined
  if (search === undefined) return { path, headers }
  return {
    path: search,
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    body: query.join('?'),
  }
}
