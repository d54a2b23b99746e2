import type { Microseconds } from '../../../src/event/timestamp.js'
import { DamagedSegment, missingRows } from '../../../src/store-kit/index/segment-source.js'
import { decodeTimes } from '../../../src/store-kit/index/time-blocks.js'
import type { Connection } from '../connection/connection.js'
import { readingSegment, timesChecksum } from './checksums.js'
import { rowId } from './row-ids.js'

const BLOCKS = `SELECT id, first, times, checksum FROM daybook_segment_times
  WHERE id >= ? AND id < ? ORDER BY id`

type BlockRow = readonly [id: number, first: Microseconds, times: Uint8Array, checksum: number]

/** See `IndexStore.readBlocks`. */
export function readBlocks(
  { statement }: Connection,
  id: number,
  from: number,
  end: number,
): readonly (readonly Microseconds[])[] {
  const range = [rowId(id, from), rowId(id, end)]
  const rows = readingSegment(id, () =>
    statement(BLOCKS)
      .raw(true)
      .all(...range),
  ) as BlockRow[]
  if (rows.length !== end - from) throw missingRows(id)
  return rows.map(([row, first, data, checksum]) => {
    if (timesChecksum(row, first, data) !== checksum)
      throw new DamagedSegment(id, 'a checksum of its times is wrong')
    return decodeTimes(first, data)
  })
}
