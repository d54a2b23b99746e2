import type { Grouping } from '../../filter/ast.js'
import { timeBounds } from '../../filter/bounds.js'
import type { Microseconds } from '../../event/timestamp.js'
import type { CountsQuery, TimeRange } from '../../store/counts.js'
import { type Cell, cellsOf, type Rounds, roundsOf } from './slices.js'
import { timeBuckets, type TimeBuckets } from './time-buckets.js'

/** What a store's events span as a count begins. */
export interface Span {
  /** The time of the oldest event; `undefined` where there is none. */
  readonly first: Microseconds | undefined
  /** That of the newest. */
  readonly last: Microseconds
  /** By the store's clock. */
  readonly now: Microseconds
}

export interface CountPlan {
  readonly buckets: TimeBuckets | undefined
  readonly cells: readonly Cell[]
  readonly rounds: Rounds
}

const stretch = (from: Microseconds, to: Microseconds): TimeRange | undefined =>
  from <= to ? { from, to } : undefined

/**
 * Where to look for what matches, and into which buckets it falls. These reach from one bound of
 * `created_at` to the other; where the filter sets none, from the oldest event to the present.
 */
export function countPlan(
  { buckets: wanted }: Pick<CountsQuery, 'buckets'>,
  where: Grouping | undefined,
  { first = Infinity, last, now }: Span,
): CountPlan {
  const bounds = timeBounds(where)
  const from = Math.max(0, bounds.from === -Infinity ? first : bounds.from)
  const to = bounds.to === Infinity ? Math.max(last, now) : bounds.to
  const buckets = wanted && timeBuckets(stretch(from, to), wanted)
  const inhabited = stretch(Math.max(from, first), Math.min(to, last))
  const cells = inhabited ? cellsOf(inhabited, buckets?.edges ?? []) : []
  return { buckets, cells, rounds: roundsOf(cells) }
}
