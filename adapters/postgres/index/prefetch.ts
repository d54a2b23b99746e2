import type { TimeBounds } from '../../../src/filter/bounds.js'
import { exactMatches } from '../../../src/store-kit/index/exact-matches.js'
import type { FigureQuery } from '../../../src/store-kit/index/figure-counts.js'
import { type FetchedPart, Kind, type Order } from '../../../src/store-kit/index/part.js'
import { NONE } from '../../../src/store-kit/index/postings.js'
import type { PartPostings } from '../../../src/store-kit/index/time-order.js'
import { WAIT } from '../../../src/store-kit/index/work.js'

/*
 * A read that has to wait requests its chunks. These functions read what work will need later, and use none of the results,
 * so that one statement fetches all of it.
 */

/**
 * Requests the blocks with the first `count` times within the bounds. The sets are in the order of their parts, whose
 * times hardly overlap.
 */
export function prefetchTimes(
  sets: readonly PartPostings[],
  order: Order,
  bounds: TimeBounds,
  count: number,
): void {
  let left = count
  const step = order === 'asc' ? 1 : -1
  for (const { part, postings } of sets) {
    const low = part.first >= bounds.from ? 0 : part.countBefore(bounds.from)
    const end = part.last <= bounds.to ? part.size : part.countBefore(bounds.to + 1)
    if (low === WAIT || end === WAIT) continue
    let at = postings.seek(step > 0 ? low : end - 1, step)
    for (; left > 0 && at !== WAIT && at !== NONE && at >= low && at < end; left--) {
      part.timeOf(at)
      at = postings.seek(at + step, step)
    }
    if (left <= 0) return
  }
}

/** Requests what counting the figures within the ranges begins with. */
export function prefetchCounts(
  part: FetchedPart,
  { shared, own, facets }: FigureQuery,
  ranges: readonly TimeBounds[],
): void {
  for (const { from, to } of ranges) {
    part.countBefore(from)
    part.countBefore(to + 1)
  }
  for (const filter of [shared, ...own.values()]) begin(exactMatches(part, filter))
  for (const name of ['type', ...facets]) {
    part.partial(name)
    part.valued(name)
    for (const kind of [Kind.boolean, Kind.number, Kind.text])
      begin(part.all?.(name, kind) ?? part.values(name, kind, 'asc'))
  }
}

function begin(work: Iterable<unknown>): void {
  const steps = work[Symbol.iterator]()
  steps.next()
  steps.return?.()
}
