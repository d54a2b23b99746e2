import type { Grouping } from '../../filter/ast.js'
import { timeBounds } from '../../filter/bounds.js'
import type { Microseconds } from '../../event/timestamp.js'
import type { CountsQuery, TimeRange } from '../../store/counts.js'
import { type Cell, cellsOf, type Rounds, roundsOf } from './slices.js'
import { timeBuckets, type TimeBuckets } from '../../store/time-buckets.js'

/** The time span of a store's events when a count begins. */
export interface Span {
  /** The time of the oldest event; `undefined` without events. */
  readonly first: Microseconds | undefined
  /** The time of the newest event. */
  readonly last: Microseconds
  /** The current time by the store's clock. */
  readonly now: Microseconds
}

export interface CountPlan {
  readonly buckets: TimeBuckets | undefined
  readonly cells: readonly Cell[]
  readonly rounds: Rounds
}

const rangeOf = (from: Microseconds, to: Microseconds): TimeRange | undefined =>
  from <= to ? { from, to } : undefined

/**
 * The cells to count, and the buckets of the matching events. Buckets reach from the lower to the upper
 * bound of `created_at`; without bounds, from the oldest event to the present.
 */
export function countPlan(
  { buckets: wanted }: Pick<CountsQuery, 'buckets'>,
  where: Grouping | undefined,
  { first = Infinity, last, now }: Span,
): CountPlan {
  const bounds = timeBounds(where)
  const from = Math.max(0, bounds.from === -Infinity ? first : bounds.from)
  const to = bounds.to === Infinity ? Math.max(last, now) : bounds.to
  const buckets = wanted && timeBuckets(rangeOf(from, to), wanted)
  const populated = rangeOf(Math.max(from, first), Math.min(to, last))
  const cells = populated ? cellsOf(populated, buckets?.edges ?? []) : []
  return { buckets, cells, rounds: roundsOf(cells) }
}
