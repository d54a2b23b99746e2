import type { TimeBounds } from '../../../src/filter/bounds.js'
import type { IndexFilter } from '../../../src/store-kit/index/index-filter.js'
import type { TimesOf } from '../../../src/store-kit/index/find-postings.js'
import { type IndexPart, Kind, type Order } from '../../../src/store-kit/index/part.js'
import { nextSpelling } from '../../../src/store-kit/index/next-spelling.js'
import { NONE } from '../../../src/store-kit/index/postings.js'
import type { PartPostings } from '../../../src/store-kit/index/time-order.js'
import { CACHE_MISS } from './chunk-loader.js'

/**
 * Notes the chunks that a search for the filter in a segment begins with, so that they are fetched together.
 * Later chunks are fetched when the search reaches them.
 */
export function prefetch(part: IndexPart, filter: IndexFilter | undefined, timesOf: TimesOf): void {
  if (filter) visit(part, filter, timesOf, true)
}

/**
 * Notes the blocks with the first `count` times within the bounds. The sets are in the order of their parts, whose
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
    if (left <= 0) return
    touch(() => {
      const low = part.first >= bounds.from ? 0 : part.countBefore(bounds.from)
      const end = part.last <= bounds.to ? part.size : part.countBefore(bounds.to + 1)
      let at = postings.seek(step > 0 ? low : end - 1, step)
      for (; left > 0 && at !== NONE && at >= low && at < end; left--) {
        const ordinal = at
        touch(() => part.timeOf(ordinal))
        at = postings.seek(ordinal + step, step)
      }
    })
  }
}

/** Notes what counting the values of the names within the ranges begins with. */
export function prefetchCounts(
  part: IndexPart,
  names: readonly string[],
  ranges: readonly TimeBounds[],
): void {
  for (const { from, to } of ranges) {
    touch(() => part.countBefore(from))
    touch(() => part.countBefore(to + 1))
  }
  for (const name of names) {
    touch(() => part.partial(name))
    touch(() => part.valued(name))
    for (const kind of [Kind.boolean, Kind.number, Kind.text])
      touch(() => startReading(part.values(name, kind, 'asc')))
  }
}

function touch(act: () => unknown): void {
  try {
    act()
  } catch (error) {
    if (error !== CACHE_MISS) throw error
  }
}

const startReading = (values: Iterable<unknown>): unknown => values[Symbol.iterator]().next()

/** Of conditions that must all hold, reads only the ones that take one read, as the others may not be needed. */
function visit(part: IndexPart, filter: IndexFilter, timesOf: TimesOf, isAlone: boolean): void {
  if ('parts' in filter) {
    for (const one of filter.parts) visit(part, one, timesOf, isAlone && filter.combinator === 'or')
  } else if ('bounds' in filter) {
    touch(() => part.countBefore(filter.bounds.from))
    touch(() => part.countBefore(filter.bounds.to + 1))
  } else if ('ids' in filter) {
    for (const time of timesOf(filter.ids)) touch(() => part.countBefore(time))
  } else if ('among' in filter) {
    if (isAlone) touch(() => startReading(part[filter.among](filter.search)))
  } else visitName(part, filter, isAlone)
}

function visitName(
  part: IndexPart,
  { name, find }: Extract<IndexFilter, { readonly find: unknown }>,
  isAlone: boolean,
): void {
  touch(() => part.partial(name))
  if (find.by === 'values') for (const value of find.values) touch(() => part.find(name, value))
  if (find.by === 'presence') {
    touch(() => part.valued(name))
    touch(() => part.containers(name))
    if (find.presence === 'blank') touch(() => part.find(name, ''))
  }
  if (find.by === 'ranges' && isAlone)
    for (const { kind, from } of find.ranges)
      touch(() => startReading(part.values(name, kind, 'asc', from)))
  if (find.by === 'start' && isAlone)
    touch(() => startReading(part.values(name, Kind.text, 'asc', nextSpelling(find.text)())))
}
