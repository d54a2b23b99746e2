import type { Bucket } from '../../../src/store/counts.js'

/*
 * Converts between times and row numbers in a list sorted newest first. Precision is limited by the
 * width of the count buckets.
 */

const at = (time: string): number => Date.parse(time)

/** The row number of a time. */
export function rowAtTime(buckets: readonly Bucket[], time: string): number {
  const moment = at(time)
  return Math.round(
    buckets.reduce((newer, { from, to, total }) => {
      const share = (at(to) - moment) / (at(to) - at(from))
      return newer + total * Math.min(1, Math.max(0, share))
    }, 0),
  )
}

/** The time of a row. For rows beyond the buckets, the start of the oldest bucket; `undefined` without buckets. */
export function timeAtRow(buckets: readonly Bucket[], row: number): string | undefined {
  let newer = 0
  for (const { from, to, total } of buckets.toReversed()) {
    if (newer + total > row) {
      const share = (row - newer) / total
      return new Date(at(to) - share * (at(to) - at(from))).toISOString()
    }
    newer += total
  }
  return buckets[0]?.from
}

/**
 * The number of events of each day, except for days that share a bucket with another. `dayOf` returns
 * the day of a time in the current zone.
 */
export function dayTotals(
  buckets: readonly Bucket[],
  dayOf: (time: string) => string,
): ReadonlyMap<string, number> {
  const totals = new Map<string, number>()
  const shared = new Set<string>()
  for (const { from, to, total } of buckets) {
    const first = dayOf(from)
    const last = dayOf(new Date(at(to) - 1).toISOString())
    totals.set(first, (totals.get(first) ?? 0) + total)
    if (first !== last && total > 0) shared.add(first).add(last)
  }
  for (const day of shared) totals.delete(day)
  return totals
}
