import type { Microseconds } from '../../event/timestamp.js'
import type { SegmentInfo, SegmentSource } from './segment-source.js'
import { TIMES_PER_BLOCK } from './time-blocks.js'

/** Converts between ordinals and times of a segment. */
export interface SegmentTimes {
  readonly timeOf: (ordinal: number) => Microseconds
  readonly countBefore: (time: Microseconds) => number
}

export function segmentTimes(
  source: Pick<SegmentSource<unknown>, 'timesOf' | 'firstTimeOf'>,
  { size, first, last }: SegmentInfo,
): SegmentTimes {
  let cached = -1
  let times: readonly Microseconds[] = []
  const firsts: Microseconds[] = []

  const block = (number: number): readonly Microseconds[] => {
    if (number === cached) return times
    times = source.timesOf(number)
    cached = number
    return times
  }

  const firstOf = (number: number): Microseconds => (firsts[number] ??= source.firstTimeOf(number))

  return {
    timeOf: (ordinal) => block(Math.floor(ordinal / TIMES_PER_BLOCK))[ordinal % TIMES_PER_BLOCK]!,
    countBefore(time) {
      if (time <= first) return 0
      if (time > last) return size
      // The last block that begins before the time.
      const number = lastIndex(Math.ceil(size / TIMES_PER_BLOCK), (n) => firstOf(n) < time)
      const times = block(number)
      return number * TIMES_PER_BLOCK + lastIndex(times.length, (i) => times[i]! < time) + 1
    },
  }
}

/** The last index below `end` that passes. Index 0 passes, and no index after one that fails. */
function lastIndex(end: number, passes: (index: number) => boolean): number {
  let [low, high] = [0, end]
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (passes(middle)) low = middle
    else high = middle
  }
  return low
}
