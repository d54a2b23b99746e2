import type { Presence } from '../../../src/store-kit/index-builder/index-driver.js'
import { createCollectedTimes } from '../../../src/store-kit/index/collected-times.js'
import { DamagedSegment, missingRows } from '../../../src/store-kit/index/segment-source.js'
import { decodeTimes } from '../../../src/store-kit/index/time-blocks.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import { onlyRow } from '../schema/events.js'
import type { DriverContext } from './driver-context.js'
import { readingSegment, timesChecksum } from './checksums.js'
import type { SqliteSegmentRow } from './index-state.js'
import { rowIds } from './row-ids.js'

/** Blocks of times that are read at once. */
const MAX_BLOCKS = 256

/** Rows of events that are read at once. */
const MAX_ROWS = 4096

const BLOCKS = `SELECT id, first, times, checksum FROM daybook_segment_times
  WHERE id >= ? AND id < ? ORDER BY id LIMIT ${MAX_BLOCKS}`

const EVENTS = `SELECT created_at FROM daybook_events
  WHERE created_at >= ? ORDER BY created_at LIMIT ${MAX_ROWS}`

const REMOVED = 'SELECT removed, removed_before FROM daybook_index'

interface Removed {
  readonly removed: number
  readonly removed_before: Microseconds
}

type BlockRow = readonly [id: number, first: Microseconds, times: Uint8Array, checksum: number]

/** Throws `DamagedSegment` unless the times are the ones that were written. */
export async function readTimes(
  { connection: { statement }, steps }: DriverContext,
  segment: SqliteSegmentRow,
): Promise<Float64Array> {
  const { id, size } = segment
  const times = createCollectedTimes(segment)
  const [start, end] = rowIds(id)
  let from = start
  while (times.count < size) {
    const select = statement(BLOCKS).raw(true)
    const rows = readingSegment(id, () => select.all(from, end)) as BlockRow[]
    if (rows.length === 0) throw missingRows(id)
    for (const [row, first, data, checksum] of rows) {
      if (timesChecksum(row, first, data) !== checksum)
        throw new DamagedSegment(id, 'a checksum of its times is wrong')
      times.add(decodeTimes(first, data))
    }
    from = rows.at(-1)![0] + 1
    await steps.pause()
  }
  return times.all()
}

/** Reads the times of all events only if some were removed since the segments were built. */
export function checkPresence(
  connection: Connection,
  segments: readonly SqliteSegmentRow[],
): Presence {
  const { removed, removed_before } = onlyRow(connection, REMOVED) as Removed
  const isUnchanged = segments.every(
    (segment) => segment.removed === removed && segment.first >= removed_before,
  )
  return { isPresent: isUnchanged ? () => true : eventsAt(connection), removed }
}

/** Says whether there is an event at a time; called with times that never decrease. */
function eventsAt({ statement }: Connection): (time: Microseconds) => boolean {
  let rows: readonly (readonly [Microseconds])[] = []
  let next = 0
  return (time) => {
    for (;;) {
      while (next < rows.length && rows[next]![0] < time) next += 1
      if (next < rows.length) return rows[next]![0] === time
      // These were the last events; later ones are in none of the segments.
      if (rows.length > 0 && rows.length < MAX_ROWS) return false
      rows = statement(EVENTS).raw(true).all(time) as [Microseconds][]
      next = 0
      if (rows.length === 0) return false
    }
  }
}
