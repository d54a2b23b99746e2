import { type MergedTimes, mergeTimes } from '../../../src/store-kit/index-builder/merge-times.js'
import { decodeTimes } from '../../../src/store-kit/index/time-blocks.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import { rowIds, type SegmentRow } from './index-tables.js'
import { missingRows } from './segment-dropping.js'
import { PAUSE, type Step } from './segment-writing.js'

// Blocks, and rows of events, that are read at once.
const MOST_BLOCKS = 256
const MOST_ROWS = 4096

const BLOCKS = `SELECT id, first, times FROM daybook_segment_times
  WHERE id >= ? AND id < ? ORDER BY id LIMIT ${MOST_BLOCKS}`

const EVENTS = `SELECT created_at FROM daybook_events
  WHERE created_at >= ? ORDER BY created_at LIMIT ${MOST_ROWS}`

/** Puts the events in order, without those that are not there. */
export function* mergeSegments(
  connection: Connection,
  segments: readonly SegmentRow[],
  isThere: (time: Microseconds) => boolean,
): Generator<Step, MergedTimes> {
  const parts: Float64Array[] = []
  for (const segment of segments) parts.push(yield* readTimes(connection, segment))
  const work = mergeTimes(parts, isThere)
  for (;;) {
    const next = work.next()
    if (next.done) return next.value
    yield PAUSE
  }
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
