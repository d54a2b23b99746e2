import { isIPv6 } from 'node:net'
import { type Duration, milliseconds } from 'date-fns'
import { LRUCache } from 'lru-cache'
import { durationFault } from '../event/duration.js'
import { AuditLogError } from '../errors.js'

/** Failed attempts allowed before further attempts are refused without checking the password. */
export interface FailureLimits {
  /** Failures per address and user name. @default 10 */
  readonly perUser?: number
  /** Failures per address, with any user name. @default 100 */
  readonly perAddress?: number
  /** How long a failure counts, as a date-fns `Duration`. @default { minutes: 1 } */
  readonly within?: Duration
}

/** Whether the attempt succeeded, or how long to wait before the next one. */
type LoginOutcome = boolean | { readonly waitMs: number }

/**
 * Makes an attempt by calling `verify`, unless too many have failed. Errors of `verify` are rethrown and do
 * not count as failures.
 */
export type LoginRateLimit = (
  address: string,
  username: string,
  verify: () => boolean | Promise<boolean>,
) => Promise<LoginOutcome>

// Memory bound in bytes, approximately, for any number of addresses and user names.
const MAX_SIZE = 8 * 2 ** 20
const ENTRY_SIZE = 500

/** The address; for IPv6 its first 64 bits, because a client usually controls its whole /64 network. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address
  const [front = [], back = []] = address
    .split('::')
    .map((groups) => groups.split(':').filter((group) => group !== ''))
  const zeros = Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => '0')
  return [...front, ...zeros, ...back].slice(0, 4).join(':')
}

function checkedLimits({
  perUser = 10,
  perAddress = 100,
  within = { minutes: 1 },
}: FailureLimits): Required<FailureLimits> {
  for (const [name, value] of Object.entries({ perUser, perAddress }))
    if (!Number.isInteger(value) || value < 1)
      throw new AuditLogError(
        'INVALID_OPTION',
        `failures.${name} must be a whole number of at least 1`,
      )
  const fault = durationFault(within)
  if (fault !== undefined) throw new AuditLogError('INVALID_OPTION', `failures.within ${fault}`)
  return { perUser, perAddress, within }
}

/**
 * Limits failed attempts. Concurrent attempts reveal no more failures than sequential ones: an attempt
 * that completes after the limit is reached returns `waitMs` instead of its outcome, even on success.
 */
export function createLoginRateLimit(
  limits: FailureLimits,
  now: () => number = () => performance.now(),
): LoginRateLimit {
  const { perUser, perAddress, within } = checkedLimits(limits)
  const withinMs = milliseconds(within)
  /** Times of the recent failures of a key, oldest first. */
  const failures = new LRUCache<string, number[]>({
    maxSize: MAX_SIZE,
    sizeCalculation: (times, key) => ENTRY_SIZE + key.length + 8 * times.length,
  })

  /** Milliseconds until the key has fewer than `max` recent failures. */
  const waitMsOf = (key: string, max: number): number => {
    const times = failures.get(key) ?? []
    const decisive = times[times.length - max]
    return decisive === undefined ? 0 : Math.max(0, decisive + withinMs - now())
  }
  const fail = (key: string, max: number): void => {
    const times = failures.get(key) ?? []
    failures.set(key, [...times.slice(times.length < max ? 0 : 1), now()])
  }

  return async (address, username, verify) => {
    const network = networkOf(address)
    const pair = `${network}\n${username}`
    const wait = (): number => Math.max(waitMsOf(network, perAddress), waitMsOf(pair, perUser))

    let waitMs = wait()
    if (waitMs > 0) return { waitMs }
    const succeeded = await verify()
    waitMs = wait()
    if (waitMs > 0) return { waitMs }
    if (succeeded) failures.delete(pair)
    else {
      fail(network, perAddress)
      fail(pair, perUser)
    }
    return succeeded
  }
}
