type Headers = Readonly<Record<string, string>>

/** Browsers neither guess another media type nor let other sites embed the response. */
const PROTECTION = {
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
}

/** The response of a server before it is sent. */
interface Prepared {
  getHeader(name: string): number | string | readonly string[] | undefined
}

/**
 * The headers to send: the given ones, the headers of every response, and `vary` merged with the value that the response
 * already has there, such as `Origin` from the host's CORS.
 */
export function responseHeaders(response: Prepared, given: Headers): Headers {
  const headers = { ...PROTECTION, ...given }
  const present = response.getHeader('vary')
  const { vary } = given
  if (present === undefined || vary === undefined) return headers
  return { ...headers, vary: `${String(present)}, ${vary}` }
}
