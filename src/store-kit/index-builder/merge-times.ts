import type { Microseconds } from '../../event/timestamp.js'
import { GONE } from './merge-chunks.js'

/** The events of several segments, in the order of their times. */
export interface MergedTimes {
  readonly times: Float64Array
  /** For each of the segments, by its ordinals, those in the whole; `GONE` where the event is. */
  readonly ordinals: readonly Uint32Array[]
  /**
   * The times of which several segments have an event, which is left out: it was removed and imported
   * again, maybe with something else, and only its row tells with what.
   */
  readonly doubled: readonly Microseconds[]
}

// Events that are put in order between two pauses.
const STEP = 16_384

/**
 * Puts the events in order, without those that are not there. `isThere` is asked of times that never fall.
 * Yields where the work may be laid down.
 */
export function* mergeTimes(
  parts: readonly Float64Array[],
  isThere: (time: Microseconds) => boolean,
): Generator<undefined, MergedTimes> {
  const size = parts.reduce((sum, { length }) => sum + length, 0)
  const times = new Float64Array(size)
  const ordinals = parts.map(({ length }) => new Uint32Array(length).fill(GONE))
  const heads = parts.map(() => 0)
  const doubled: Microseconds[] = []
  let [lastPart, lastOrdinal] = [0, 0]
  let count = 0
  for (let met = 1; met <= size; met++) {
    const part = nearest(parts, heads)
    const ordinal = heads[part]!++
    const time = parts[part]![ordinal]!
    if (count > 0 && times[count - 1] === time) {
      ordinals[lastPart]![lastOrdinal] = GONE
      doubled.push(time)
      count -= 1
    } else if (doubled.at(-1) !== time && isThere(time)) {
      times[count] = time
      ordinals[part]![ordinal] = count++
      lastPart = part
      lastOrdinal = ordinal
    }
    if (met % STEP === 0) yield
  }
  return { times: times.subarray(0, count), ordinals, doubled }
}

/** The part whose next time is the lowest; there is one. */
function nearest(parts: readonly Float64Array[], heads: readonly number[]): number {
  let nearest = 0
  let lowest = Infinity
  for (let part = 0; part < parts.length; part++) {
    const time = parts[part]![heads[part]!] ?? Infinity
    if (time < lowest) {
      lowest = time
      nearest = part
    }
  }
  return nearest
}
