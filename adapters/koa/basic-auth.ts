import { createHash, timingSafeEqual } from 'node:crypto'
import { challenge } from '../../src/http/events/endpoint.js'
import { HttpProblem, problemResponse } from '../../src/http/problem.js'
import { sendResponse } from './exchange.js'
import type { KoaMiddleware } from './koa.js'

/** True when the password is the user's. It is the host's to compare in constant time. */
export type VerifyUser = (username: string, password: string) => boolean | Promise<boolean>

export interface BasicAuthOptions {
  /** Passwords by user name, compared in constant time; or a function that asks elsewhere. */
  readonly users: Readonly<Record<string, string>> | VerifyUser
  /** Shown by browsers that ask for the password. @default 'Daybook' */
  readonly realm?: string
}

interface Credentials {
  readonly username: string
  readonly password: string
}

/** RFC 7617: base64 of `<user name>:<password>` in UTF-8, without control characters. */
function readCredentials(header: string): Credentials | undefined {
  const encoded = /^basic +([A-Za-z0-9+/_-]+=*) *$/i.exec(header)?.[1]
  if (encoded === undefined) return undefined
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(encoded, 'base64'))
    const colon = text.indexOf(':')
    if (colon < 1 || /\p{Cc}/u.test(text)) return undefined
    return { username: text.slice(0, colon), password: text.slice(colon + 1) }
  } catch {
    return undefined
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

function verifyAgainst(users: Readonly<Record<string, string>>): VerifyUser {
  return (username, password) => {
    const known = Object.hasOwn(users, username)
    // The comparison is made for unknown users too, so that time does not tell them apart.
    return timingSafeEqual(digest(known ? users[username]! : ''), digest(password)) && known
  }
}

/**
 * Koa middleware for HTTP Basic authentication: puts the user's name into `ctx.state.username`, or
 * answers 401 with a challenge and a JSON:API error.
 */
export function basicAuth(options: BasicAuthOptions): KoaMiddleware {
  const { users, realm = 'Daybook' } = options
  const verify = typeof users === 'function' ? users : verifyAgainst(users)
  return async function basicAuth(ctx, next) {
    const credentials = readCredentials(ctx.get('authorization'))
    if (credentials && (await verify(credentials.username, credentials.password))) {
      ctx.state['username'] = credentials.username
      return next()
    }
    const detail = credentials ? 'user name or password is wrong' : 'send user name and password'
    const problem = new HttpProblem('UNAUTHENTICATED', detail, { headers: challenge(realm) })
    sendResponse(ctx, problemResponse(problem))
    return undefined
  }
}
