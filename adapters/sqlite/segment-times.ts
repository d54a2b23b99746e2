import { BLOCK, decodeTimes } from '../../src/indexing/time-blocks.js'
import type { Microseconds } from '../../src/timestamp.js'
import type { Connection } from './connection.js'
import { rowId, type SegmentRow } from './index-tables.js'

/** Leads from the ordinals of a segment to times and back. */
export interface SegmentTimes {
  readonly timeOf: (ordinal: number) => Microseconds
  readonly countBefore: (time: Microseconds) => number
}

const AT = 'SELECT first, times FROM daybook_segment_times WHERE id = ?'

const FIRST_AT = 'SELECT first FROM daybook_segment_times WHERE id = ?'

export function segmentTimes(
  { statement }: Connection,
  { id, size, first, last }: SegmentRow,
): SegmentTimes {
  let known = -1
  let times: readonly Microseconds[] = []

  const block = (number: number): readonly Microseconds[] => {
    if (number === known) return times
    const row = statement(AT).raw(true).get(rowId(id, number))
    const [first, data] = row as [Microseconds, Uint8Array]
    times = decodeTimes(first, data)
    known = number
    return times
  }

  const firstOf = (number: number): Microseconds => {
    const row = statement(FIRST_AT).get(rowId(id, number))
    return (row as { readonly first: Microseconds }).first
  }

  return {
    timeOf: (ordinal) => block(Math.floor(ordinal / BLOCK))[ordinal % BLOCK]!,
    countBefore(time) {
      if (time <= first) return 0
      if (time > last) return size
      // The last block that begins before the time.
      const number = lastIndex(Math.ceil(size / BLOCK), (number) => firstOf(number) < time)
      const times = block(number)
      return number * BLOCK + lastIndex(times.length, (i) => times[i]! < time) + 1
    },
  }
}

/** The last index below `end` that passes, where all before it do and none behind; the first one does. */
function lastIndex(end: number, passes: (index: number) => boolean): number {
  let [low, high] = [0, end]
  while (high - low > 1) {
    const middle = (low + high) >>> 1
    if (passes(middle)) low = middle
    else high = middle
  }
  return low
}
