import type { ServerResponse } from 'node:http'

type Headers = Readonly<Record<string, string>>

/** The headers, their `vary` with what the response has there already, such as `Origin` of a host's CORS. */
export function mergeVary(response: ServerResponse, headers: Headers): Headers {
  const present = response.getHeader('vary')
  const { vary } = headers
  if (present === undefined || vary === undefined) return headers
  return { ...headers, vary: `${String(present)}, ${vary}` }
}
