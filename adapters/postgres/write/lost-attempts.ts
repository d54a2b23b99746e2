import type { IdSuffix } from '../../../src/event/event-id.js'
import type { AppendOptions } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'

/** A call of the SQL function `append` whose result is unknown. */
export interface LostAttempt {
  readonly id: string
  readonly suffixes: readonly IdSuffix[]
  /** Lower bound of the times of the events that it may have stored. */
  readonly since: Microseconds
  /** True if other processes may append the same drafts. */
  readonly isShared: boolean
  readonly retriedLater: AppendOptions['retriedLater']
  /** It has stored its drafts, though a standby may lack them: they are not removed. */
  isKept: boolean
}

/** The lost attempts of this process. The next attempt recovers from all of them. */
export interface LostAttempts {
  isEmpty(): boolean
  /** How many drafts they may have stored although their calls were rejected, once all calls are settled. */
  rejected(): number
  /** True if they may have stored one of these drafts. */
  mayHave(suffixes: readonly IdSuffix[]): boolean
  /** Adds an attempt, which counts as lost until it is removed. Returns the earlier ones. */
  add(attempt: LostAttempt): readonly LostAttempt[]
  remove(attempts: readonly LostAttempt[]): void
}

/**
 * The suffixes of drafts that the lost attempts may have stored although their calls were rejected, which are
 * those that are not appended `again`; and those of them that other processes may append too.
 */
function rejectedOf(
  lost: readonly LostAttempt[],
  again: readonly IdSuffix[],
): [rejected: IdSuffix[], shared: IdSuffix[]] {
  const kept = lost.filter(({ isKept }) => isKept).flatMap(({ suffixes }) => suffixes)
  const wanted = new Set([...again, ...kept])
  const rejected = lost.flatMap(({ suffixes, retriedLater }) =>
    suffixes.filter((suffix) => !wanted.has(suffix) && !retriedLater?.has(suffix)),
  )
  const unshared = new Set(lost.flatMap(({ suffixes, isShared }) => (isShared ? [] : suffixes)))
  return [rejected, rejected.filter((suffix) => !unshared.has(suffix))]
}

export function createLostAttempts(): LostAttempts {
  let lost: readonly LostAttempt[] = []

  return {
    isEmpty: () => lost.length === 0,
    rejected: () => new Set(rejectedOf(lost, [])[0]).size,
    mayHave: (suffixes) => lost.some((one) => one.suffixes.some((own) => suffixes.includes(own))),
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
 * The parameters of the SQL function from `_void` to `_shared`, with which the attempt recovers from the
 * `earlier` ones. New events are later than `floor`. A draft that was searched for and not found can only be
 * stored later than `since`, which is `Infinity` if no other process can have stored the drafts.
 */
export function recoveryParameters(
  earlier: readonly LostAttempt[],
  attempt: LostAttempt,
  floor: Microseconds,
  since: Microseconds = Infinity,
): unknown[] {
  return [
    earlier.map(({ id }) => id),
    earlier.length > 0 || since !== Infinity,
    Math.min(floor, since, ...earlier.map((one) => one.since)),
    ...rejectedOf(earlier, attempt.suffixes),
  ]
}
