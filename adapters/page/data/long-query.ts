/** A request, by its path below the path of the feed. */
export interface FeedRequest {
  readonly path: string
  readonly method?: 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/**
 * The request for a path with a query that is too long for a URL. Lists and counts accept such a query in the body.
 */
export function requestFor(path: string, headers: Readonly<Record<string, string>>): FeedRequest {
  const [, endpoint, body] = /^(|\/counts)\?(.*)$/s.exec(path) ?? []
  if (body === undefined) return { path, headers }
  return {
    path: endpoint || '/search',
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    body,
  }
}
