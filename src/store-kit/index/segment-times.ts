import type { Microseconds } from '../../event/timestamp.js'
import type { SegmentInfo, SegmentSource } from './segment-source.js'
import { TIMES_PER_BLOCK } from './time-blocks.js'
import { WAIT, type Wait } from './work.js'

/** Converts between ordinals and times of a segment. */
export interface SegmentTimes {
  readonly timeOf: (ordinal: number) => Microseconds | Wait
  readonly countBefore: (time: Microseconds) => number | Wait
}

export function segmentTimes(
  source: Pick<SegmentSource<unknown>, 'timesOf' | 'firstTimeOf'>,
  { size, first, last }: SegmentInfo,
): SegmentTimes {
  let cached = -1
  let times: readonly Microseconds[] = []
  const firsts: Microseconds[] = []

  const block = (number: number): readonly Microseconds[] | Wait => {
    if (number === cached) return times
    const found = source.timesOf(number)
    if (found === WAIT) return WAIT
    cached = number
    return (times = found)
  }

  const firstOf = (number: number): Microseconds | Wait => {
    const known = firsts[number]
    if (known !== undefined) return known
    const found = source.firstTimeOf(number)
    if (found !== WAIT) firsts[number] = found
    return found
  }

  return {
    timeOf(ordinal) {
      const times = block(Math.floor(ordinal / TIMES_PER_BLOCK))
      return times === WAIT ? WAIT : times[ordinal % TIMES_PER_BLOCK]!
    },
    countBefore(time) {
      if (time <= first) return 0
      if (time > last) return size
      // The last block that begins before the time.
      let waits = false
      const number = lastIndex(Math.ceil(size / TIMES_PER_BLOCK), (n) => {
        const first = firstOf(n)
        waits ||= first === WAIT
        return first !== WAIT && first < time
      })
      const times = waits ? WAIT : block(number)
      return (
        times && number * TIMES_PER_BLOCK + lastIndex(times.length, (i) => times[i]! < time) + 1
      )
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
