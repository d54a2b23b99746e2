import type { ServerResponse } from 'node:http'

type Headers = Readonly<Record<string, string>>

/** Merges `vary` with what the response already has there, such as `Origin` from the host's CORS. */
export function mergeVary(response: ServerResponse, headers: Headers): Headers {
  const present = response.getHeader('vary')
  const { vary } = headers
  if (present === undefined || vary === undefined) return headers
  return { ...headers, vary: `${String(present)}, ${vary}` }
}
