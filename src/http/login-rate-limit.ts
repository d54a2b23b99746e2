import { hash } from 'node:crypto'
import { milliseconds } from 'date-fns/milliseconds'
import { LRUCache } from 'lru-cache'
import { type Duration, durationFault } from '../event/duration.js'
import { AuditLogError } from '../errors.js'
import {
  type FailureCount,
  type FailureStore,
  hashingKeys,
  memoryCounters,
} from './failure-counters.js'
import { networkOf } from '../event/address.js'
import { checkOptions, type OptionNames } from '../options.js'

/** Failed attempts allowed before further attempts are refused or delayed. */
export interface FailureLimits {
  /** Failures per address and user name, after which attempts are refused without checking the password. @default 10 */
  readonly perUser?: number
  /** Failures per address, with any user name, after which attempts are refused. @default 100 */
  readonly perAddress?: number
  /**
   * Failures per user name, from any address. After these, attempts on the name are checked one a second in each
   * process; attempts that would wait for more than 10 seconds are refused. Attempts from addresses where the
   * user has signed in within a day are not delayed.
   * @default 100
   */
  readonly perAccount?: number
  /** How long failures count after the first one, as a date-fns `Duration` of at most 24 days. @default { minutes: 1 } */
  readonly within?: Duration
  /**
   * Makes counters that several processes share, with a limiter of rate-limiter-flexible:
   * `(options) => new RateLimiterRedis({ ...options, storeClient })`. Its errors are treated as those of `users`.
   * @default each process counts in memory
   */
  readonly store?: FailureStore
}

const FAILURE_LIMITS: OptionNames<FailureLimits> = {
  perUser: true,
  perAddress: true,
  perAccount: true,
  within: true,
  store: true,
}

/** Result of an attempt: true if it succeeded, or how long to wait before the next one. */
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

const DAY_MS = 24 * 3600 * 1000
// https://nodejs.org/api/timers.html#settimeoutcallback-delay-args
const MAX_WITHIN_MS = 24 * DAY_MS

function checkedLimits(
  limits: FailureLimits,
): Required<Omit<FailureLimits, 'store'>> & Pick<FailureLimits, 'store'> {
  checkOptions(limits, FAILURE_LIMITS, 'failures')
  const { perUser = 10, perAddress = 100, perAccount = 100 } = limits
  const { within = { minutes: 1 }, store } = limits
  for (const [name, value] of Object.entries({ perUser, perAddress, perAccount }))
    if (!Number.isInteger(value) || value < 1)
      throw new AuditLogError(
        'INVALID_OPTION',
        `failures.${name} must be a whole number of at least 1`,
      )
  const fault = durationFault(within)
  if (fault !== undefined) throw new AuditLogError('INVALID_OPTION', `failures.within ${fault}`)
  if (milliseconds(within) > MAX_WITHIN_MS)
    throw new AuditLogError('INVALID_OPTION', 'failures.within must be at most 24 days')
  if (store !== undefined && typeof store !== 'function')
    throw new AuditLogError(
      'INVALID_OPTION',
      'failures.store must be a function that returns a limiter of rate-limiter-flexible',
    )
  return { perUser, perAddress, perAccount, within, ...(store && { store }) }
}

/** Limits the failures of each key. */
interface Limit {
  /** Milliseconds until the key may fail again. */
  waitMs(key: string): Promise<number>
  /** Counts a failure. Milliseconds to wait if it is one too many. */
  fail(key: string): Promise<number>
  clear(key: string): Promise<unknown>
}

function createLimit(store: FailureStore, name: string, points: number, within: Duration): Limit {
  const duration = milliseconds(within) / 1000
  const counter = store({ keyPrefix: `daybook-${name}`, points, duration })
  const waitMs = (count: FailureCount | null | undefined, max: number): number =>
    count && count.consumedPoints > max ? Math.max(0, count.msBeforeNext) : 0
  return {
    waitMs: async (key) => waitMs(await counter.get(key), points - 1),
    fail: async (key) => waitMs(await counter.penalty(key), points),
    clear: (key) => counter.delete(key),
  }
}

/** Attempts on a delayed account begin at this interval. */
const TURN_MS = 1000
const MAX_DELAY_MS = 10_000
const MAX_ENTRIES = 10_000
/** Unlike `max`, takes no memory for entries that do not exist. */
const LIMITED = { maxSize: MAX_ENTRIES, sizeCalculation: () => 1 }

/** Gives attempts on an account their turns, one after another. Resolves to milliseconds if too many wait. */
function createTurns(): (account: string) => Promise<number> {
  const latest = new LRUCache<string, number>(LIMITED)
  return async (account) => {
    const now = performance.now()
    const at = Math.max(now, latest.get(account) ?? 0) + TURN_MS
    if (at - now > MAX_DELAY_MS) return at - now
    latest.set(account, at)
    await new Promise((resolve) => setTimeout(resolve, at - now))
    return 0
  }
}

const digest = (text: string): string => hash('sha256', text, 'base64url')

/** One text for the spellings of a name that a directory may treat as one account. */
const accountOf = (username: string): string => username.normalize('NFKC').trim().toLowerCase()

/**
 * Limits failed attempts. Concurrent attempts reveal no more failures than sequential ones: an attempt
 * that completes after a limit is reached returns `waitMs` instead of its outcome, or is delayed, even on
 * success.
 */
export function createLoginRateLimit(limits: FailureLimits): LoginRateLimit {
  const { perUser, perAddress, perAccount, within, store } = checkedLimits(limits)
  const counters = store ? hashingKeys(store) : memoryCounters()
  const byUser = createLimit(counters, 'user', perUser, within)
  const byAddress = createLimit(counters, 'address', perAddress, within)
  const byAccount = createLimit(counters, 'account', perAccount, within)
  const turn = createTurns()
  /** Where users have signed in: others cannot delay them there. */
  const familiar = new LRUCache<string, true>({ ...LIMITED, ttl: DAY_MS })

  return async (address, username, verify) => {
    const network = networkOf(address)
    const account = accountOf(username)
    const pair = `${network}\n${account}`
    const place = digest(pair)
    let isDelayed = familiar.has(place)

    const refusedMs = async (): Promise<number> => {
      const waits = await Promise.all([byAddress.waitMs(network), byUser.waitMs(pair)])
      return Math.max(...waits)
    }
    /** Waits for a turn once if the account has too many failures. */
    const delayedMs = async (accountMs: Promise<number>): Promise<number> => {
      if (isDelayed || (await accountMs) === 0) return 0
      isDelayed = true
      return (await turn(digest(account))) || refusedMs()
    }
    const admit = async (): Promise<number> =>
      (await refusedMs()) || delayedMs(byAccount.waitMs(account))
    /** A failure that is refused by one limit does not count for the next. */
    const fail = async (): Promise<number> =>
      (await byUser.fail(pair)) ||
      (await byAddress.fail(network)) ||
      delayedMs(byAccount.fail(account))

    let waitMs = await admit()
    if (waitMs > 0) return { waitMs }
    const succeeded = await verify()
    waitMs = await (succeeded ? admit() : fail())
    if (waitMs > 0) return { waitMs }
    if (!succeeded) return false
    familiar.set(place, true)
    await byUser.clear(pair)
    return true
  }
}
