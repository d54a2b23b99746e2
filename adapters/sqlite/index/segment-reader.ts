import { perObject } from '../../../src/store/per-object.js'
import { LRUCache } from 'lru-cache'
import type { IndexPart } from '../../../src/store-kit/index/part.js'
import { openSegment } from '../../../src/store-kit/index/segment.js'
import { missingRows, UNNAMED_LISTS } from '../../../src/store-kit/index/segment-source.js'
import { decodeTimes } from '../../../src/store-kit/index/time-blocks.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import { createChunkReader } from './chunk-reader.js'
import { readingSegment, segmentChecks, timesChecksum } from './checksums.js'
import { numberOf } from './column-names.js'
import type { SegmentRow } from '../../../src/store-kit/maintenance/index-rows.js'
import { rowId } from './row-ids.js'

const TIMES = 'SELECT first, times, checksum FROM daybook_segment_times WHERE id = ?'

const FIRST_TIME = 'SELECT first FROM daybook_segment_times WHERE id = ?'

/** Half a megabyte. Most repeated reads are of the newest segments. */
const MAX_CACHED_BLOCKS = 256

/** Recently read blocks of times by row id; they never change. */
const blockCache = perObject<Connection, LRUCache<number, readonly Microseconds[]>>(
  () => new LRUCache({ max: MAX_CACHED_BLOCKS }),
)

/**
 * A segment, which can be read while it is visible: see `loadSealed`. `onRead` is called for each chunk
 * that is read.
 */
export function readSegment(
  connection: Connection,
  row: SegmentRow,
  onRead?: () => void,
): IndexPart {
  const { statement } = connection
  const blocks = blockCache(connection)
  const checks = segmentChecks(connection)

  const readTimes = (id: number): readonly [first: Microseconds, times: Uint8Array] => {
    const found = readingSegment(row.id, () => statement(TIMES).raw(true).get(id))
    if (!found) throw missingRows(row.id)
    const [first, times, checksum] = found as [Microseconds, Uint8Array, number]
    checks.times(row.id, id, () => timesChecksum(id, first, times) === checksum)
    return [first, times]
  }
  const source = {
    chunks: createChunkReader(connection, onRead),
    listsOf(name: string | number = UNNAMED_LISTS, kind: number) {
      const number = typeof name === 'number' ? name : numberOf(connection, row, name)
      return number === undefined ? undefined : { segment: row.id, name: number, kind }
    },
    timesOf(block: number) {
      const id = rowId(row.id, block)
      const cached = blocks.get(id)
      if (cached) return cached
      const times = decodeTimes(...readTimes(id))
      blocks.set(id, times)
      return times
    },
    firstTimeOf(block: number) {
      const id = rowId(row.id, block)
      if (!checks.hasTimes(id)) return readTimes(id)[0]
      const found = readingSegment(row.id, () => statement(FIRST_TIME).get(id))
      if (!found) throw missingRows(row.id)
      return (found as { readonly first: Microseconds }).first
    },
  }
  // No read has to wait.
  return openSegment(source, row) as IndexPart
}
