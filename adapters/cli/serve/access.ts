import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

/*
 * Any page in the browser of the user, and any user of the machine, can send requests to this server. So a request
 * must be addressed to this server, must not come from another origin, may only read, and needs the cookie that the
 * printed address sets.
 */

/** The parts of a request that access depends on. */
export interface AccessRequest {
  readonly method?: string | undefined
  /** The URL as the client sent it. */
  readonly url?: string | undefined
  readonly headers: IncomingHttpHeaders
}

/** The answer to a request that does not reach the log. */
export interface AccessAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** One line of plain text. */
  readonly text: string
  /** True if a browser shows a link to the page below the text. */
  readonly hasLink?: boolean
}

export interface Access {
  /** The path for signing in. It works once. */
  readonly loginPath: string
  /** `undefined` for a request that may read the log. */
  answer(request: AccessRequest): AccessAnswer | undefined
}

export const PAGE_PATH = '/audit'

/** Paths that read by a query in the body of a request. */
const SEARCH_PATHS: ReadonlySet<string> = new Set(['/api/events/search', '/api/events/counts'])

const LOGIN_PATH = '/login'

const newSecret = (): string => randomBytes(32).toString('base64url')

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Compares in a time that does not depend on the texts. */
const isSame = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other))

function readCookie({ cookie = '' }: IncomingHttpHeaders, name: string): string | undefined {
  const found = cookie.split(/;\s*/).find((pair) => pair.startsWith(`${name}=`))
  return found?.slice(name.length + 1)
}

/** True for a page that a browser opens in a window or a tab, by its address or by a link on any site. */
const isOpened = (headers: IncomingHttpHeaders): boolean =>
  headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'

/**
 * Refuses requests that another site has caused, either by a host name that leads to this machine, or across origins.
 */
function refuseOthers(
  { url = '', headers }: AccessRequest,
  hosts: readonly string[],
): AccessAnswer | undefined {
  const host = headers.host?.toLowerCase() ?? ''
  if (!hosts.includes(host) || !url.startsWith('/'))
    return { status: 421, text: `this server answers requests to ${hosts[0]} only` }
  const { origin, 'sec-fetch-site': site = 'none' } = headers
  const isOther =
    (origin !== undefined && origin !== `http://${host}`) ||
    (site !== 'none' && site !== 'same-origin' && !isOpened(headers))
  return isOther ? { status: 403, text: 'requests of other sites are refused' } : undefined
}

const redirect = (headers: Readonly<Record<string, string>> = {}): AccessAnswer => ({
  status: 303,
  headers: { location: PAGE_PATH, ...headers },
  text: `see ${PAGE_PATH}`,
})

/** Access to the log that is served on this port of 127.0.0.1. */
export function createAccess(port: number): Access {
  const token = newSecret()
  const session = newSecret()
  let isUsed = false
  // Cookies are shared by all ports of a host.
  const cookieName = `daybook-${port}`
  const names = ['127.0.0.1', 'localhost']
  const hosts = [...names.map((name) => `${name}:${port}`), ...(port === 80 ? names : [])]

  const signIn = (method: string, query: string): AccessAnswer => {
    const given = new URLSearchParams(query).get('token') ?? ''
    if (!isSame(given, token))
      return { status: 403, text: 'this is not the address that daybook serve has printed' }
    if (isUsed)
      return {
        status: 403,
        text: 'this address was used already, and works once; if that was not you, end daybook serve. Start it again for a new address',
      }
    // Programs that preview links send HEAD. Such a request must not use up the address.
    if (method === 'HEAD') return redirect()
    isUsed = true
    return redirect({
      'set-cookie': `${cookieName}=${session}; Path=/; HttpOnly; SameSite=Strict`,
    })
  }

  return {
    loginPath: `${LOGIN_PATH}?token=${token}`,
    answer(request) {
      const { method = '', url = '', headers } = request
      const refusal = refuseOthers(request, hosts)
      if (refusal) return refusal
      const [path, query = ''] = url.split('?', 2) as [string, string?]
      const isRead =
        method === 'GET' || method === 'HEAD' || (method === 'POST' && SEARCH_PATHS.has(path))
      if (!isRead)
        return {
          status: 405,
          headers: { allow: 'GET, HEAD' },
          text: 'the log is served for reading only',
        }
      const isSignedIn = isSame(readCookie(headers, cookieName) ?? '', session)
      if (path === LOGIN_PATH) return isSignedIn ? redirect() : signIn(method, query)
      if (!isSignedIn)
        return {
          status: 401,
          headers: { 'www-authenticate': 'Cookie realm="daybook serve"' },
          text: 'open the address that daybook serve has printed',
          hasLink: isOpened(headers),
        }
      return path === '/' ? redirect() : undefined
    },
  }
}
