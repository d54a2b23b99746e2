/* The address of a feed, and the user who reads it. */

export interface Credentials {
  readonly user?: string | undefined
  readonly password?: string | undefined
  /** Sent as a bearer token instead of user and password. */
  readonly token?: string | undefined
}

export interface FeedAddress {
  /** The address without user, password, query, fragment, and slash at the end. */
  readonly url: string
  readonly credentials: Credentials
}

type Env = Readonly<Record<string, string | undefined>>

/**
 * Reads the address of a feed, of a host or of an audit page. A user and a password in it take precedence over
 * `DAYBOOK_USER` and `DAYBOOK_PASSWORD`, and these take precedence over `DAYBOOK_TOKEN`. Throws `TypeError` for a
 * text that is not an address.
 */
export function readAddress(target: string, env: Env): FeedAddress {
  const url = new URL(target)
  const inUrl = { user: decoded(url.username), password: decoded(url.password) }
  const fromEnv = { user: env['DAYBOOK_USER'], password: env['DAYBOOK_PASSWORD'] }
  const token = env['DAYBOOK_TOKEN']
  const hasUser = inUrl.user ?? fromEnv.user
  return {
    url: url.origin + url.pathname.replace(/\/+$/, ''),
    credentials: hasUser
      ? { user: hasUser, password: inUrl.password ?? fromEnv.password }
      : { token: token || undefined },
  }
}

function decoded(text: string): string | undefined {
  if (text === '') return undefined
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The header with the credentials; `undefined` if they are incomplete. */
export function authorizationOf({ user, password, token }: Credentials): string | undefined {
  if (user !== undefined && password !== undefined)
    return `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`
  return token === undefined ? undefined : `Bearer ${token}`
}

/** `undefined` for a text that is not an address. */
export function resolveUrl(text: string, base: string): URL | undefined {
  return URL.canParse(text, base) ? new URL(text, base) : undefined
}
