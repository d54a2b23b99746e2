import type { Microseconds } from '../../event/timestamp.js'
import { REMOVED_ORDINAL } from './merge-chunks.js'

/** The events of several segments, in the order of their times. */
export interface MergedTimes {
  readonly times: Float64Array
  /** For each segment, its ordinals mapped to ordinals of the merged segment; `GONE` for an event left out. */
  readonly ordinals: readonly Uint32Array[]
  /**
   * Times at which several segments have an event. It was removed and imported again, maybe with other
   * attributes, and only its row has the current ones, so it is left out here.
   */
  readonly duplicates: readonly Microseconds[]
}

/** Number of events between two pauses. */
const STEP = 16_384

/**
 * Sorts the events by time and leaves out those that are not present. `isPresent` is called with times that
 * never decrease. Yields where the work may pause.
 */
export function* mergeTimes(
  parts: readonly Float64Array[],
  isPresent: (time: Microseconds) => boolean,
): Generator<undefined, MergedTimes> {
  const size = parts.reduce((sum, { length }) => sum + length, 0)
  const times = new Float64Array(size)
  const ordinals = parts.map(({ length }) => new Uint32Array(length).fill(REMOVED_ORDINAL))
  const heads = parts.map(() => 0)
  const duplicates: Microseconds[] = []
  let [lastPart, lastOrdinal] = [0, 0]
  let count = 0
  for (let read = 1; read <= size; read++) {
    const part = partWithLowestHead(parts, heads)
    const ordinal = heads[part]!++
    const time = parts[part]![ordinal]!
    if (count > 0 && times[count - 1] === time) {
      ordinals[lastPart]![lastOrdinal] = REMOVED_ORDINAL
      duplicates.push(time)
      count -= 1
    } else if (duplicates.at(-1) !== time && isPresent(time)) {
      times[count] = time
      ordinals[part]![ordinal] = count++
      lastPart = part
      lastOrdinal = ordinal
    }
    if (read % STEP === 0) yield
  }
  return { times: times.subarray(0, count), ordinals, duplicates }
}

/** At least one part has a time left. */
function partWithLowestHead(parts: readonly Float64Array[], heads: readonly number[]): number {
  let found = 0
  let lowest = Infinity
  for (let part = 0; part < parts.length; part++) {
    const time = parts[part]![heads[part]!] ?? Infinity
    if (time < lowest) {
      lowest = time
      found = part
    }
  }
  return found
}
