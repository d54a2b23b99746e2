import { isTooLongForUrl } from '../../../src/filter/url-length.js'

/** Where the service takes the query of a list or of counts in a body. */
const SEARCH_PATHS: ReadonlyMap<string, string> = new Map([
  ['', '/search'],
  ['/counts', '/counts'],
])

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
  const search = isTooLongForUrl(path) ? SEARCH_PATHS.get(endpoint) : undefined
  if (search === undefined) return { path, headers }
  return {
    path: search,
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    body: query.join('?'),
  }
}
