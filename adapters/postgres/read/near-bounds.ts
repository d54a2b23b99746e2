import { isEmpty, type TimeBounds } from '../../../src/filter/bounds.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Order } from '../../../src/store-kit/index/part.js'
import type { Partitions } from '../schema/names.js'
import { periodOf } from '../schema/partitions.js'

/*
 * Postgres plans and opens the scan of each partition within the bounds, even if the first of them has all rows that are
 * wanted: about 50 µs for each. So a list of a log with many partitions first reads only those at the start of its order.
 */

/** With fewer partitions, planning them all takes less time than another statement. */
const MIN_PARTITIONS = 16

export interface PartitionedLog {
  readonly partitions: Partitions
  /** The number of partitions, and where the oldest one begins, as far as this process knows. */
  readonly count: number
  readonly oldest: Microseconds | undefined
  /** The time of the newest event that this process knows. */
  readonly newest: Microseconds
  readonly now: Microseconds
}

export const isWorthParting = ({ partitions, count }: PartitionedLog): boolean =>
  partitions !== 'none' && count >= MIN_PARTITIONS

/** The part of the bounds to be read first. It has a few partitions; all of the bounds if that saves nothing. */
export function nearBounds(bounds: TimeBounds, order: Order, log: PartitionedLog): TimeBounds {
  const { from, to } = bounds
  const { partitions, newest, now } = log
  if (partitions === 'none' || !isWorthParting(log) || from > now) return bounds
  if (order === 'desc') {
    const last = periodOf(Math.max(0, Math.min(to, newest, now)), partitions)
    const near = periodOf(Math.max(0, last.from - 1), partitions).from
    return near > from ? { from: near, to } : bounds
  }
  const first = Math.max(from, log.oldest ?? 0)
  if (first === 0) return bounds
  const near = periodOf(periodOf(first, partitions).to, partitions).to - 1
  return near < to ? { from, to: near } : bounds
}

/** The bounds in the order in which they are read: near ones, then the others. */
export function inParts(bounds: TimeBounds, near: TimeBounds, order: Order): readonly TimeBounds[] {
  const first = { from: Math.max(bounds.from, near.from), to: Math.min(bounds.to, near.to) }
  const others =
    order === 'desc'
      ? { from: bounds.from, to: first.from - 1 }
      : { from: first.to + 1, to: bounds.to }
  return isEmpty(first) || isEmpty(others) ? [bounds] : [first, others]
}
