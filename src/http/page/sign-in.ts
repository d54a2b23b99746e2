import { AuditLogError } from '../../errors.js'
import type { HttpRequest } from '../exchange.js'
import { isUnder } from '../mounts.js'

const ORIGIN = 'http://host.invalid'

/** The address of the option, percent-encoded. `undefined` unless it is a path of this host or an `http` or `https` URL. */
function addressOf(signIn: string): URL | undefined {
  const isPath = signIn.startsWith('/')
  if (!isPath && !/^https?:\/\//i.test(signIn)) return undefined
  const url = URL.canParse(signIn, ORIGIN) ? new URL(signIn, ORIGIN) : undefined
  // Browsers take `//other.example` and `/\other.example` for another host.
  return url && isPath === (url.origin === ORIGIN) ? url : undefined
}

/** A request by which a browser opens a page. Browsers name the mode of a request only where the connection is safe. */
export function isNavigation(request: HttpRequest): boolean {
  if (request.method !== 'GET' && request.method !== 'HEAD') return false
  const mode = request.header('sec-fetch-mode')
  return mode === '' ? /\btext\/html\b/i.test(request.header('accept')) : mode === 'navigate'
}

/**
 * The address of the sign-in page, as a redirect names it. Throws `INVALID_OPTION` for one that is neither a path nor an `http` or
 * `https` URL, and for one below the page.
 */
export function readSignIn(signIn: string | undefined, mount: string): string | undefined {
  if (signIn === undefined) return undefined
  const url = typeof signIn === 'string' ? addressOf(signIn) : undefined
  if (!url)
    throw new AuditLogError(
      'INVALID_OPTION',
      `signIn must be a path such as /login, or an http or https URL; it is ${JSON.stringify(signIn)}`,
    )
  if (url.origin !== ORIGIN) return url.href
  if (isUnder(url.pathname, mount))
    throw new AuditLogError(
      'INVALID_OPTION',
      `signIn must not be below the page, which needs a user; it is ${JSON.stringify(signIn)}`,
    )
  return url.href.slice(ORIGIN.length)
}
