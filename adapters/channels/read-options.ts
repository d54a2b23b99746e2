import { validateHeaderName, validateHeaderValue } from 'node:http'
import { milliseconds } from 'date-fns/milliseconds'
import { AuditLogError } from '../../src/errors.js'
import { type Duration, durationFault } from '../../src/event/duration.js'
import { BATCH_LIMITS, type Channel, RATE } from '../../src/subscriptions/channel.js'
import { checkOptions } from '../../src/options.js'

/*
 * Checks of options from code or users. The messages do not quote URLs and values of headers, which may be secrets.
 */

/** Throws `INVALID_OPTION` for unknown members among the options of most channels. */
export function checkDelivery(
  { batch, rate }: Pick<Channel, 'batch' | 'rate'>,
  channel: string,
): void {
  checkOptions(batch, BATCH_LIMITS, `${channel}: batch`)
  checkOptions(rate, RATE, `${channel}: rate`)
}

/** Makes the error for a wrong member. */
export type Fail = (member: string, problem: string) => AuditLogError

/** Makes the error for a wrong option in code. */
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

/** Reads at most 20 headers that HTTP allows and that the channel does not set itself. */
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

type Batch = NonNullable<Channel['batch']>
type Rate = NonNullable<Channel['rate']>

const MAX_EVENTS = 1000
const MAX_BYTES = 1_048_576
const MAX_WAIT = { hours: 1 }
const MAX_COUNT = 10_000
const MAX_PERIOD = { days: 1 }

/** Reads `{ maxEvents, maxBytes, maxWait }` of a user, all optional. */
export function readBatch(given: unknown, fail: Fail): Batch | undefined {
  if (given === undefined) return undefined
  const batch = membersOf(given, 'batch', fail)
  const { maxEvents, maxBytes, maxWait, ...others } = batch
  if (Object.keys(others).length > 0)
    throw fail('batch', 'must have no members but maxEvents, maxBytes and maxWait')
  if (maxEvents !== undefined) checkCount(maxEvents, MAX_EVENTS, 'batch.maxEvents', fail)
  if (maxBytes !== undefined) checkCount(maxBytes, MAX_BYTES, 'batch.maxBytes', fail)
  if (maxWait !== undefined) checkDuration(maxWait, MAX_WAIT, 'batch.maxWait', fail)
  return batch
}

/** Reads `{ count, per }` of a user. */
export function readRate(given: unknown, fail: Fail): Rate | undefined {
  if (given === undefined) return undefined
  const rate = membersOf(given, 'rate', fail)
  const { count, per, ...others } = rate
  if (Object.keys(others).length > 0) throw fail('rate', 'must have no members but count and per')
  checkCount(count, MAX_COUNT, 'rate.count', fail)
  checkDuration(per, MAX_PERIOD, 'rate.per', fail)
  return rate as unknown as Rate
}

function checkCount(given: unknown, max: number, member: string, fail: Fail): void {
  const isCount = Number.isInteger(given) && (given as number) >= 1 && (given as number) <= max
  if (!isCount) throw fail(member, `must be a whole number from 1 to ${max}`)
}

function checkDuration(given: unknown, max: Duration, member: string, fail: Fail): void {
  const fault = durationFault(given)
  if (fault !== undefined) throw fail(member, fault)
  if (milliseconds(given as Duration) > milliseconds(max))
    throw fail(member, `must be at most ${JSON.stringify(max)}`)
}

function membersOf(given: unknown, member: string, fail: Fail): Readonly<Record<string, unknown>> {
  if (given === null || typeof given !== 'object' || Array.isArray(given))
    throw fail(member, 'must be an object')
  return given as Readonly<Record<string, unknown>>
}
