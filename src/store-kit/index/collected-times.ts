import type { Microseconds } from '../../event/timestamp.js'
import { eventsDigest } from './checksums.js'
import { DamagedSegment } from './segment-source.js'
import { TIMES_PER_BLOCK } from './time-blocks.js'

/** The columns of a segment's row that describe its times. */
export interface DescribedTimes {
  readonly id: number
  readonly size: number
  readonly first: Microseconds
  readonly last: Microseconds
  readonly digest: number
}

/** The times of a segment, block by block. */
export interface CollectedTimes {
  readonly count: number
  /** Adds the next block. Throws `DamagedSegment` if it has another number of times than was written. */
  add(block: readonly Microseconds[]): void
  /** All times. Throws `DamagedSegment` unless they are the ones that were written. */
  all(): Float64Array
}

export function createCollectedTimes(row: DescribedTimes): CollectedTimes {
  const { id, size, first, last, digest } = row
  const times = new Float64Array(size)
  let count = 0
  return {
    get count() {
      return count
    },
    add(block) {
      if (block.length !== Math.min(TIMES_PER_BLOCK, size - count))
        throw new DamagedSegment(id, 'its number of events is wrong')
      times.set(block, count)
      count += block.length
    },
    all() {
      if (eventsDigest(times) !== digest)
        throw new DamagedSegment(id, 'the digest of its events is wrong')
      if (times[0] !== first || times[size - 1] !== last)
        throw new DamagedSegment(id, 'its time range is wrong')
      return times
    },
  }
}
