import { GONE } from '../../src/indexing/merge-chunks.js'
import { decodeTimes } from '../../src/indexing/time-blocks.js'
import type { Microseconds } from '../../src/timestamp.js'
import type { Connection } from './connection.js'
import { rowIds, type SegmentRow } from './index-tables.js'
import { missingRows } from './segment-dropping.js'
import { PAUSE, type Step } from './segment-writing.js'

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

// Blocks, and rows of events, that are read at once.
const MOST_BLOCKS = 256
const MOST_ROWS = 4096

// Events that are put in order between two pauses.
const STEP = 65_536

const BLOCKS = `SELECT id, first, times FROM daybook_segment_times
  WHERE id >= ? AND id < ? ORDER BY id LIMIT ${MOST_BLOCKS}`

const EVENTS = `SELECT created_at FROM daybook_events
  WHERE created_at >= ? ORDER BY created_at LIMIT ${MOST_ROWS}`

/** Puts the events in order, without those that are not there. */
export function* mergeTimes(
  connection: Connection,
  segments: readonly SegmentRow[],
  isThere: (time: Microseconds) => boolean,
): Generator<Step, MergedTimes> {
  const parts: Float64Array[] = []
  for (const segment of segments) parts.push(yield* readTimes(connection, segment))
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
    if (met % STEP === 0) yield PAUSE
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

function* readTimes(
  { statement }: Connection,
  { id, size }: SegmentRow,
): Generator<Step, Float64Array> {
  const times = new Float64Array(size)
  const [start, end] = rowIds(id)
  let from = start
  let count = 0
  while (count < size) {
    const rows = statement(BLOCKS).raw(true).all(from, end) as [number, Microseconds, Uint8Array][]
    if (rows.length === 0) throw missingRows(id)
    for (const [, first, data] of rows) {
      const block = decodeTimes(first, data)
      times.set(block, count)
      count += block.length
    }
    from = rows.at(-1)![0] + 1
    yield PAUSE
  }
  return times
}

/** Tells of times, each not below the one before, whether there is an event. */
export function eventsAt({ statement }: Connection): (time: Microseconds) => boolean {
  let rows: readonly (readonly [Microseconds])[] = []
  let next = 0
  return (time) => {
    for (;;) {
      while (next < rows.length && rows[next]![0] < time) next += 1
      if (next < rows.length) return rows[next]![0] === time
      if (rows.length > 0 && rows.length < MOST_ROWS) {
        // These were the last there are; what has come since is in none of the segments.
        return false
      }
      rows = statement(EVENTS).raw(true).all(time) as [Microseconds][]
      next = 0
      if (rows.length === 0) return false
    }
  }
}
