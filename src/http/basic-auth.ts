import { hash, timingSafeEqual } from 'node:crypto'
import { AuditLogError } from '../errors.js'
import { CHALLENGE_OPTIONS, type ChallengeOptions, readChallenge } from './challenge.js'
import type { HttpResponse } from './exchange.js'
import { HttpProblem, problemResponse } from './problem.js'
import { rethrow } from './thrown-error.js'
import {
  type FailureLimits,
  createLoginRateLimit,
  type LoginRateLimit,
} from './login-rate-limit.js'
import { type OptionNames, requireOptions } from '../options.js'

/**
 * Returns `true` if the password is correct; any other value means that it is wrong. The function should
 * compare in constant time. An error that it throws goes to the host's error handling and does not count
 * as a failed attempt; any other value that it throws becomes the `cause` of an error.
 */
export type VerifyUser = (username: string, password: string) => boolean | Promise<boolean>

export interface BasicAuthOptions extends ChallengeOptions {
  /** Passwords by user name, compared in constant time; or a function that checks the password. */
  readonly users: Readonly<Record<string, string>> | VerifyUser
  /**
   * Failed attempts allowed before the response is 429 and the password is not checked; `false` for no
   * limit.
   * @default { perUser: 10, perAddress: 100, perAccount: 100, within: { minutes: 1 } }
   */
  readonly failures?: FailureLimits | false
}

export const BASIC_AUTH_OPTIONS: OptionNames<BasicAuthOptions> = {
  users: true,
  ...CHALLENGE_OPTIONS,
  failures: true,
}

interface Credentials {
  readonly username: string
  readonly password: string
}

// Longer than real user names and passwords, including tokens sent as passwords.
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

/** The user name in the `Authorization` header of Basic authentication; `undefined` if it has none. */
export const triedUsername = (header: string): string | undefined =>
  readCredentials(header)?.username

const digest = (text: string): Buffer => hash('sha256', text, 'buffer')

function verifyAgainst(users: Readonly<Record<string, string>>): VerifyUser {
  // The characters of a text, and the items of a list, would be passwords of users named 0, 1 and so on.
  if (typeof users !== 'object' || users === null || Array.isArray(users))
    throw new AuditLogError(
      'INVALID_OPTION',
      'users must be an object of passwords by user name, or a function',
    )
  for (const [username, password] of Object.entries(users))
    if (typeof password !== 'string' || password === '')
      throw new AuditLogError('INVALID_OPTION', `users: the password of ${username} is empty`)
  return (username, password) => {
    const isKnown = Object.hasOwn(users, username)
    // Compare for unknown users too, so that the response time does not reveal which users exist.
    return timingSafeEqual(digest(isKnown ? users[username]! : ''), digest(password)) && isKnown
  }
}

const unlimited: LoginRateLimit = async (_address, _username, decide) => decide()

/** The authenticated user of a request, or the response that rejects it. */
type Authentication = { readonly username: string } | { readonly refusal: HttpResponse }

/**
 * Takes the `Authorization` header, and a function that returns the client address. Rejects with the errors of this function and
 * of `users`; see `thrownError`.
 */
type Authenticate = (
  authorization: string,
  address: () => string | Promise<string>,
) => Promise<Authentication>

/** Makes the middleware, the plugin or the wrapper of a framework that authenticates. */
export interface BasicAuth<Options, Authenticating> {
  /**
   * HTTP Basic authentication. It runs the following handlers as the authenticated user: events recorded without a username get this
   * one. Other requests get a 401 with a challenge, or a 429 with `Retry-After` after too many failures. Failures are counted by user
   * and by the address of the client; behind a proxy the framework must read it from a header of the proxy. Errors of a `users`
   * function go to the error handling of the framework.
   */
  (options: Options): Authenticating
}

/**
 * HTTP Basic authentication (RFC 7617). Responds 401 with a challenge to missing or wrong credentials, and
 * 429 with `Retry-After` after too many failures. An empty password is always wrong, because LDAP
 * directories accept a bind without a password as anonymous (RFC 4513, section 5.1.2). `names` are the options of the framework.
 */
export function basicAuthentication(
  options: BasicAuthOptions,
  names: Readonly<Record<string, true>> = BASIC_AUTH_OPTIONS,
): Authenticate {
  requireOptions(options, names, 'basicAuth')
  const { users, failures = {} } = options
  const verify = typeof users === 'function' ? users : verifyAgainst(users)
  const attempt = failures === false ? unlimited : createLoginRateLimit(failures)
  const unauthenticated = readChallenge(options)
  const refuse = (problem: HttpProblem): Authentication => ({ refusal: problemResponse(problem) })

  const authenticate: Authenticate = async (authorization, address) => {
    const credentials = readCredentials(authorization)
    if (!credentials) return refuse(unauthenticated('missing'))
    const { username, password } = credentials
    const isCorrect = async (): Promise<boolean> => {
      const result: unknown = password !== '' && (await verify(username, password))
      return result === true
    }
    const outcome = await attempt(await address(), username, isCorrect)
    if (outcome === true) return { username }
    if (outcome === false) return refuse(unauthenticated('wrong'))
    const seconds = Math.ceil(outcome.waitMs / 1000)
    return refuse(
      new HttpProblem('TOO_MANY_TRIES', `try again in ${seconds} seconds`, {
        headers: { 'retry-after': String(seconds) },
      }),
    )
  }
  return (...request) => authenticate(...request).catch(rethrow)
}
