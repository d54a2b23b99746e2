import type { Microseconds } from '../../event/timestamp.js'
import type { IndexPart } from './part.js'
import { EMPTY, rangePostings } from './postings.js'

/** An index part that knows only the times of its events, ascending, so each event may match any filter. */
export function unindexedPart(id: string, times: readonly Microseconds[]): IndexPart {
  const size = times.length
  return {
    id,
    size,
    first: times[0] ?? 0,
    last: times.at(-1) ?? 0,
    timeOf: (ordinal) => times[ordinal]!,
    countBefore: (time) => countBelow(times, time),
    values: () => [],
    find: () => EMPTY,
    valued: () => EMPTY,
    containers: () => EMPTY,
    partial: () => rangePostings(0, size),
    texts: () => [],
    sources: () => [],
    partialTexts: () => rangePostings(0, size),
  }
}

function countBelow(times: readonly Microseconds[], bound: Microseconds): number {
  let [low, high] = [0, times.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (times[middle]! < bound) low = middle + 1
    else high = middle
  }
  return low
}
