import { hash, timingSafeEqual } from 'node:crypto'
import { AuditLogError } from '../errors.js'
import type { HttpResponse } from './exchange.js'
import { HttpProblem, problemResponse } from './problem.js'
import {
  type FailureLimits,
  createLoginRateLimit,
  type LoginRateLimit,
} from './login-rate-limit.js'

/**
 * Whether the password is the user's; nothing but `true` is a yes. It is the host's to compare in constant
 * time. What it throws is the host's to answer, and no failed try.
 */
export type VerifyUser = (username: string, password: string) => boolean | Promise<boolean>

export interface BasicAuthOptions {
  /** Passwords by user name, compared in constant time; or a function that asks elsewhere. */
  readonly users: Readonly<Record<string, string>> | VerifyUser
  /** Shown by browsers that ask for the password; printable ASCII. @default 'Daybook' */
  readonly realm?: string
  /**
   * How often one may fail before tries are answered 429 without a look at the password; false for
   * without end.
   * @default { perUser: 10, perAddress: 100, within: { minutes: 1 } }
   */
  readonly failures?: FailureLimits | false
}

/** The headers of a 401 (RFC 7617, section 2). Throws `INVALID_OPTION` for a realm that no header holds. */
export function challenge(realm: string): Readonly<Record<string, string>> {
  if (!/^[ -~]*$/.test(realm))
    throw new AuditLogError('INVALID_OPTION', 'realm must be printable ASCII')
  const quoted = realm.replaceAll(/["\\]/g, '\\$&')
  return { 'www-authenticate': `Basic realm="${quoted}", charset="UTF-8"` }
}

interface Credentials {
  readonly username: string
  readonly password: string
}

// Names and passwords are shorter, tokens that are sent as passwords too.
const MAX_HEADER = 8192

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** RFC 7617, section 2: base64 of `<user name>:<password>` in UTF-8, without control characters. */
function readCredentials(header: string): Credentials | undefined {
  if (header.length > MAX_HEADER) return undefined
  const encoded = /^basic +([A-Za-z0-9+/_-]+=*) *$/i.exec(header)?.[1]
  if (encoded === undefined) return undefined
  try {
    const text = utf8.decode(Buffer.from(encoded, 'base64'))
    const colon = text.indexOf(':')
    if (colon < 1 || /\p{Cc}/u.test(text)) return undefined
    return { username: text.slice(0, colon), password: text.slice(colon + 1) }
  } catch {
    return undefined
  }
}

const digest = (text: string): Buffer => hash('sha256', text, 'buffer')

function verifyAgainst(users: Readonly<Record<string, string>>): VerifyUser {
  for (const [username, password] of Object.entries(users))
    if (typeof password !== 'string' || password === '')
      throw new AuditLogError('INVALID_OPTION', `users: the password of ${username} is empty`)
  return (username, password) => {
    const known = Object.hasOwn(users, username)
    // The comparison is made for unknown users too, so that time does not tell them apart.
    return timingSafeEqual(digest(known ? users[username]! : ''), digest(password)) && known
  }
}

const unlimited: LoginRateLimit = async (_address, _username, decide) => decide()

/** The user that a request is from, or what to answer where that is not known. */
type Authentication = { readonly username: string } | { readonly refusal: HttpResponse }

/** Takes the header `Authorization` and the address that the request came from. */
type Authenticate = (authorization: string, address: string) => Promise<Authentication>

/**
 * HTTP Basic authentication (RFC 7617): 401 with a challenge for who is not known, 429 with `Retry-After`
 * for who has failed too often. An empty password is wrong, whoever is asked: directories take a login
 * without password for an anonymous one (RFC 4513, section 5.1.2).
 */
export function basicAuthentication(
  { users, realm = 'Daybook', failures = {} }: BasicAuthOptions,
  now?: () => number,
): Authenticate {
  const verify = typeof users === 'function' ? users : verifyAgainst(users)
  const attempt = failures === false ? unlimited : createLoginRateLimit(failures, now)
  const headers = challenge(realm)
  const refuse = (detail: string): Authentication => ({
    refusal: problemResponse(new HttpProblem('UNAUTHENTICATED', detail, { headers })),
  })

  return async (authorization, address) => {
    const credentials = readCredentials(authorization)
    if (!credentials) return refuse('send user name and password')
    const { username, password } = credentials
    const isRight = async (): Promise<boolean> => {
      const answer: unknown = password !== '' && (await verify(username, password))
      return answer === true
    }
    const outcome = await attempt(address, username, isRight)
    if (outcome === true) return { username }
    if (outcome === false) return refuse('user name or password is wrong')
    const seconds = Math.ceil(outcome.waitMs / 1000)
    const problem = new HttpProblem('TOO_MANY_TRIES', `try again in ${seconds} seconds`, {
      headers: { 'retry-after': String(seconds) },
    })
    return { refusal: problemResponse(problem) }
  }
}
