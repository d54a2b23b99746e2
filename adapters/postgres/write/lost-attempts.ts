import type { IdSuffix } from '../../../src/event/event-id.js'
import type { AppendOptions } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'

/** A call of the SQL function `append` whose result is unknown. */
export interface LostAttempt {
  readonly id: string
  readonly suffixes: readonly IdSuffix[]
  /** What it may have stored is later than this. */
  readonly since: Microseconds
  /** True if other processes may append the same drafts. */
  readonly isShared: boolean
  readonly retriedLater: AppendOptions['retriedLater']
  /** It has stored its drafts, though a standby may lack them: they are not removed. */
  isKept: boolean
}

/** The lost attempts of an appender. The next attempt recovers from all of them. */
export interface LostAttempts {
  isEmpty(): boolean
  /** Adds an attempt, which counts as lost until it is removed. Returns the earlier ones. */
  add(attempt: LostAttempt): readonly LostAttempt[]
  remove(attempts: readonly LostAttempt[]): void
}

export function createLostAttempts(): LostAttempts {
  let lost: readonly LostAttempt[] = []

  return {
    isEmpty: () => lost.length === 0,
    add(attempt) {
      const earlier = lost
      lost = [...earlier, attempt]
      return earlier
    },
    remove(attempts) {
      lost = lost.filter((one) => !attempts.includes(one))
    },
  }
}

/**
 * The suffixes of drafts that lost attempts may have stored although their calls were rejected; and
 * those of them that other processes may append too.
 */
function rejectedOf(
  earlier: readonly LostAttempt[],
  attempt: LostAttempt,
): [rejected: IdSuffix[], shared: IdSuffix[]] {
  const kept = earlier.filter(({ isKept }) => isKept)
  const wanted = new Set([attempt, ...kept].flatMap(({ suffixes }) => suffixes))
  const rejected = earlier.flatMap(({ suffixes, retriedLater }) =>
    suffixes.filter((suffix) => !wanted.has(suffix) && !retriedLater?.has(suffix)),
  )
  const unshared = new Set(earlier.flatMap(({ suffixes, isShared }) => (isShared ? [] : suffixes)))
  return [rejected, rejected.filter((suffix) => !unshared.has(suffix))]
}

/**
 * The parameters of the SQL function from `_void` to `_shared`, with which the attempt recovers from the
 * `earlier` ones. New events are later than `floor`. A draft that was searched for and not found can only be
 * stored later than `since`, which is `Infinity` if no other process can have stored the drafts.
 */
export function recoveryParameters(
  earlier: readonly LostAttempt[],
  attempt: LostAttempt,
  floor: Microseconds,
  since: Microseconds,
): unknown[] {
  return [
    earlier.map(({ id }) => id),
    earlier.length > 0 || since !== Infinity,
    Math.min(floor, since, ...earlier.map((one) => one.since)),
    ...rejectedOf(earlier, attempt),
  ]
}
