import { isIPv6 } from 'node:net'
import { type Duration, milliseconds } from 'date-fns'
import { LRUCache } from 'lru-cache'
import { durationFault } from '../event/duration.js'
import { AuditLogError } from '../errors.js'

/** How often one may fail before the next tries are refused unseen. */
export interface FailureLimits {
  /** Failures of one address with one user name. @default 10 */
  readonly perUser?: number
  /** Failures of one address, whatever the names. @default 100 */
  readonly perAddress?: number
  /** The time that failures count for, as a date-fns `Duration`. @default { minutes: 1 } */
  readonly within?: Duration
}

/** Whether a try has succeeded; or how long no other may be made. */
type LoginOutcome = boolean | { readonly waitMs: number }

/** Makes a try, unless too many have failed; what `decide` throws is thrown on, and is no failure. */
export type LoginRateLimit = (
  address: string,
  username: string,
  decide: () => boolean | Promise<boolean>,
) => Promise<LoginOutcome>

// About as many bytes, whoever tries whatever names from wherever.
const MAX_SIZE = 8 * 2 ** 20
const ENTRY_SIZE = 500

/** The address, but of IPv6 its first 64 bits: who has one such address mostly has the network. */
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
 * Limits failed tries. Of tries that are decided at the same time no more are told that they have failed
 * than of tries one after the other: from then on the outcome is withheld, be it good or bad.
 */
export function createLoginRateLimit(
  limits: FailureLimits,
  now: () => number = () => performance.now(),
): LoginRateLimit {
  const { perUser, perAddress, within } = checkedLimits(limits)
  const withinMs = milliseconds(within)
  /** When the recent tries of a key failed, oldest first. */
  const failures = new LRUCache<string, number[]>({
    maxSize: MAX_SIZE,
    sizeCalculation: (times, key) => ENTRY_SIZE + key.length + 8 * times.length,
  })

  /** How long it takes until the key has fewer than `max` failures. */
  const waitOf = (key: string, max: number): number => {
    const times = failures.get(key) ?? []
    const decisive = times[times.length - max]
    return decisive === undefined ? 0 : Math.max(0, decisive + withinMs - now())
  }
  const fail = (key: string, max: number): void => {
    const times = failures.get(key) ?? []
    failures.set(key, [...times.slice(times.length < max ? 0 : 1), now()])
  }

  return async (address, username, decide) => {
    const network = networkOf(address)
    const pair = `${network}\n${username}`
    const wait = (): number => Math.max(waitOf(network, perAddress), waitOf(pair, perUser))

    let waitMs = wait()
    if (waitMs > 0) return { waitMs }
    const succeeded = await decide()
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
