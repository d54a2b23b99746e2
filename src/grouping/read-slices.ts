import { formatTimestamp, type Microseconds, parseTimestamp } from '../event/timestamp.js'
import { type Condition, type Grouping, MAX_LIMIT } from '../filter/ast.js'
import type { Bucket, TimeRange } from '../store/counts.js'

/** A part of the time, without its end. */
export interface Slice {
  readonly from: Microseconds
  readonly to: Microseconds
}

const GOLDEN_RATIO = (1 + Math.sqrt(5)) / 2

/** A low-discrepancy sequence in 0 to 1: neighbors are far apart, and many are evenly spread. */
const spread = (index: number): number => (index * GOLDEN_RATIO) % 1

/**
 * Cuts the buckets into slices of about a page of events. The first slices are spread over the whole time range.
 * Leaves out empty buckets if the numbers are exact.
 */
export function slicesOf(
  buckets: readonly Bucket[],
  range: TimeRange,
  isExact: boolean,
): readonly Slice[] {
  const slices = buckets.flatMap(({ from, to, total: counted, share = 1 }): Slice[] => {
    if (counted === 0 && isExact) return []
    const total = share > 0 ? counted / share : 0
    const start = Math.max(range.from, parseTimestamp(from)!)
    const end = Math.min(range.to + 1, parseTimestamp(to)!)
    const parts = Math.min(end - start, Math.max(1, Math.ceil(total / MAX_LIMIT)))
    const at = (part: number): Microseconds => start + Math.floor(((end - start) * part) / parts)
    return Array.from({ length: parts }, (_, part) => ({ from: at(part), to: at(part + 1) }))
  })
  return slices
    .map((slice, index) => ({ slice, at: spread(index) }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ slice }) => slice)
}

const bound = (predicate: Condition['predicate'], time: Microseconds): Condition => ({
  attributes: ['created_at'],
  combinator: 'and',
  predicate,
  values: [formatTimestamp(time)],
})

/** A condition for the times from the first one on, and before the second. */
export const timesBetween = (from: Microseconds, to: Microseconds): Grouping => ({
  combinator: 'and',
  conditions: [bound('gteq', from), bound('lt', to)],
  groupings: [],
})
