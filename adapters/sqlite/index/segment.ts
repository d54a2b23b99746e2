import { LRUCache } from 'lru-cache'
import type { IndexPart } from '../../../src/store-kit/index/part.js'
import { openSegment as openPart } from '../../../src/store-kit/index/segment.js'
import { decodeTimes } from '../../../src/store-kit/index/time-blocks.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import { NO_NAME, rowId, type SegmentRow } from './index-tables.js'
import { createChunkReader } from './segment-chunks.js'
import { segmentNames } from './segment-names.js'

const TIMES = 'SELECT first, times FROM daybook_segment_times WHERE id = ?'

const FIRST_TIME = 'SELECT first FROM daybook_segment_times WHERE id = ?'

// Half a megabyte: what is asked for again and again is mostly in the newest segments.
const MOST_BLOCKS = 256

const blocks = new WeakMap<Connection, LRUCache<number, readonly Microseconds[]>>()

/** The times of blocks that were read lately, which stay as they are. */
function blocksOf(connection: Connection): LRUCache<number, readonly Microseconds[]> {
  let known = blocks.get(connection)
  if (!known) blocks.set(connection, (known = new LRUCache({ max: MOST_BLOCKS })))
  return known
}

/** A visible segment, as long as it is that: see `loadIndexState`. `onRead` is told of each read. */
export function openSegment(
  connection: Connection,
  row: SegmentRow,
  onRead?: () => void,
): IndexPart {
  const { statement } = connection
  const names = segmentNames(connection)
  const blocks = blocksOf(connection)
  const source = {
    chunks: createChunkReader(connection, onRead),
    listsOf(name: string | undefined, kind: number) {
      const number = name === undefined ? NO_NAME : names.find(name)
      return number === undefined ? undefined : { segment: row.id, name: number, kind }
    },
    timesOf(block: number) {
      const id = rowId(row.id, block)
      const known = blocks.get(id)
      if (known) return known
      const found = statement(TIMES).raw(true).get(id) as [Microseconds, Uint8Array]
      const times = decodeTimes(...found)
      blocks.set(id, times)
      return times
    },
    firstTimeOf(block: number) {
      const found = statement(FIRST_TIME).get(rowId(row.id, block))
      return (found as { readonly first: Microseconds }).first
    },
  }
  return openPart(source, row)
}
