import { AuditLogError } from '../errors.js'
import { checkOptions, type OptionNames } from '../options.js'
import { HttpProblem } from './problem.js'

/** How clients authenticate (RFC 9110, section 11.6.1). */
export interface Challenge {
  /** The authentication scheme. @default 'Basic' */
  readonly scheme?: string
  /** Printable ASCII. @default the option `realm` */
  readonly realm?: string
}

export interface ChallengeOptions {
  /**
   * The realm of the challenge of a 401 response, unless `challenge` has one; printable ASCII. Browsers show it in their login dialog.
   * @default 'Daybook'
   */
  readonly realm?: string
  /**
   * The challenge of a 401 response, such as `{ scheme: 'Bearer', realm: 'api' }`. `false`: the response has none, so that browsers
   * open no login dialog.
   * @default { scheme: 'Basic' }
   */
  readonly challenge?: Challenge | false
}

export const CHALLENGE_OPTIONS: OptionNames<ChallengeOptions> = { realm: true, challenge: true }

const CHALLENGE: OptionNames<Challenge> = { scheme: true, realm: true }

/** Makes the problem of a request without credentials, or with wrong ones. */
export type Unauthenticated = (credentials: 'missing' | 'wrong') => HttpProblem

/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~\dA-Za-z-]+$/
const PRINTABLE = /^[ -~]*$/

function checkText(option: string, text: unknown, form: RegExp, allowed: string): void {
  if (typeof text !== 'string' || !form.test(text))
    throw new AuditLogError(
      'INVALID_OPTION',
      `${option} must be ${allowed}; it is ${typeof text === 'string' ? JSON.stringify(text) : typeof text}`,
    )
}

const OTHER = { missing: 'the request has no user: sign in', wrong: 'the credentials are wrong' }

/** Reads how requests without a user are refused. Throws `INVALID_OPTION`. */
export function readChallenge({
  realm = 'Daybook',
  challenge = {},
}: ChallengeOptions): Unauthenticated {
  checkText('realm', realm, PRINTABLE, 'printable ASCII')
  if (challenge === false)
    return (credentials) => new HttpProblem('UNAUTHENTICATED', OTHER[credentials])
  if (typeof challenge !== 'object' || challenge === null || Array.isArray(challenge))
    throw new AuditLogError('INVALID_OPTION', 'challenge must be false or { scheme, realm }')
  checkOptions(challenge, CHALLENGE, 'challenge')
  const { scheme = 'Basic', realm: own = realm } = challenge
  checkText(
    'challenge.scheme',
    scheme,
    TOKEN,
    'the name of an authentication scheme, such as Bearer',
  )
  checkText('challenge.realm', own, PRINTABLE, 'printable ASCII')
  const isBasic = scheme.toLowerCase() === 'basic'
  const quoted = own.replaceAll(/["\\]/g, '\\$&')
  // Only RFC 7617 has the parameter `charset`.
  const headers = {
    'www-authenticate': `${scheme} realm="${quoted}"${isBasic ? ', charset="UTF-8"' : ''}`,
  }
  const details = isBasic
    ? { missing: 'send user name and password', wrong: 'user name or password is wrong' }
    : { ...OTHER, missing: `send credentials of the scheme ${scheme}` }
  return (credentials) => new HttpProblem('UNAUTHENTICATED', details[credentials], { headers })
}

/** The authenticated user. Throws the problem of a request without one, and a `TypeError` for a name that is not a text. */
export function requireUser(username: unknown, unauthenticated: Unauthenticated): string {
  // Most servers represent a missing header as an empty string, so an empty name means no user.
  if (!username) throw unauthenticated('missing')
  if (typeof username === 'string') return username
  throw new TypeError(
    `username must return a text or null; it returned a value of the type ${typeof username}`,
  )
}
