import { validateHeaderName, validateHeaderValue } from 'node:http'
import { AuditLogError } from '../../src/errors.js'

/* Checks of what code or users give. The messages do not repeat URLs and values of headers, which may be secrets. */

/** Makes the error for a wrong member. */
export type Fail = (member: string, problem: string) => AuditLogError

/** For options in code. */
export const invalidOption =
  (channel: string): Fail =>
  (member, problem) =>
    new AuditLogError('INVALID_OPTION', `${channel}: ${member} ${problem}`)

export function readUrl(given: unknown, member: string, fail: Fail): URL {
  const url = typeof given === 'string' && URL.canParse(given) ? new URL(given) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw fail(member, 'must be an http: or https: URL')
  if (url.username !== '' || url.password !== '')
    throw fail(member, 'must not have a user name or a password; use headers')
  return url
}

const MAX_HEADERS = 20
const RESERVED_HEADER =
  /^(?:host|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|user-agent|content-.*|webhook-.*)$/i

/** At most 20 headers that HTTP allows and that the channel does not set itself. */
export function readHeaders(given: unknown, fail: Fail): Readonly<Record<string, string>> {
  if (given === undefined) return {}
  const headers = Object.entries(membersOf(given, 'headers', fail))
  if (headers.length > MAX_HEADERS)
    throw fail('headers', `must have at most ${MAX_HEADERS} members`)
  for (const [name, value] of headers) {
    if (RESERVED_HEADER.test(name))
      throw fail('headers', `must not have ${name}, which is reserved`)
    if (!isHeader(name, value))
      throw fail('headers', `must have names and values of HTTP; ${JSON.stringify(name)} is wrong`)
  }
  return Object.fromEntries(headers as [string, string][])
}

function isHeader(name: string, value: unknown): boolean {
  if (typeof value !== 'string') return false
  try {
    validateHeaderName(name)
    validateHeaderValue(name, value)
    return true
  } catch {
    return false
  }
}

export function readCompress(given: unknown, fail: Fail): 'gzip' | undefined {
  if (given === undefined || given === 'gzip') return given
  throw fail('compress', 'must be gzip')
}

function membersOf(given: unknown, member: string, fail: Fail): Readonly<Record<string, unknown>> {
  if (given === null || typeof given !== 'object' || Array.isArray(given))
    throw fail(member, 'must be an object')
  return given as Readonly<Record<string, unknown>>
}
