import type { IndexPart } from '../../../src/indexing/part.js'
import { openSegment as openPart } from '../../../src/indexing/segment.js'
import { decodeTimes } from '../../../src/indexing/time-blocks.js'
import type { Microseconds } from '../../../src/timestamp.js'
import type { Connection } from '../connection.js'
import { NO_NAME, rowId, type SegmentRow } from './index-tables.js'
import { createChunkReader } from './segment-chunks.js'
import { segmentNames } from './segment-names.js'

const TIMES = 'SELECT first, times FROM daybook_segment_times WHERE id = ?'

const FIRST_TIME = 'SELECT first FROM daybook_segment_times WHERE id = ?'

/** A visible segment, as long as it is that: see `loadIndexState`. `onRead` is told of each read. */
export function openSegment(
  connection: Connection,
  row: SegmentRow,
  onRead?: () => void,
): IndexPart {
  const { statement } = connection
  const names = segmentNames(connection)
  const source = {
    chunks: createChunkReader(connection, onRead),
    listsOf(name: string | undefined, kind: number) {
      const number = name === undefined ? NO_NAME : names.find(name)
      return number === undefined ? undefined : { segment: row.id, name: number, kind }
    },
    timesOf(block: number) {
      const found = statement(TIMES).raw(true).get(rowId(row.id, block))
      return decodeTimes(...(found as [Microseconds, Uint8Array]))
    },
    firstTimeOf(block: number) {
      const found = statement(FIRST_TIME).get(rowId(row.id, block))
      return (found as { readonly first: Microseconds }).first
    },
  }
  return openPart(source, row)
}
