import type { NamedChunk } from '../../../src/store-kit/maintenance/index-store.js'
import type {
  BatchLimits,
  BuildingSegment,
} from '../../../src/store-kit/maintenance/index-store.js'
import { keyOf, SegmentState, TIMES_KIND } from '../../../src/store-kit/index/segment-source.js'
import { TIMES_PER_BLOCK } from '../../../src/store-kit/index/time-blocks.js'
import type { DriverContext } from './driver-context.js'
import { keyChecksum } from '../../../src/store-kit/index/checksums.js'
import { postingsChecksum, timesChecksum, valuesChecksum } from './checksums.js'
import { packLines } from './packed-lines.js'
import { rowId } from './row-ids.js'

export const BATCH_LIMITS: BatchLimits = { bytes: 131_072, rows: 500 }

const IS_BUILDING = `SELECT 1 FROM daybook_segments WHERE id = ? AND state = ${SegmentState.building}`

const INSERT_CHUNK = `INSERT INTO daybook_chunks (id, vals, posts, vals_checksum, posts_checksum, packed)
  VALUES (?, ?, ?, ?, ?, ?)`

const INSERT_KEY = `INSERT INTO daybook_chunk_keys (segment, name, kind, first, ordinal, chunk, checksum)
  VALUES (?, ?, ?, ?, ?, ?, ?)`

const INSERT_TIMES =
  'INSERT INTO daybook_segment_times (id, first, times, checksum) VALUES (?, ?, ?, ?)'

/** The blocks of times have a table of their own. */
export function insertChunks(
  { connection, write, compression }: DriverContext,
  { id, size }: BuildingSegment,
  from: number,
  chunks: readonly NamedChunk[],
): Promise<boolean> {
  const { statement } = connection
  const blocks = Math.ceil(size / TIMES_PER_BLOCK)
  // Compressed before the transaction begins.
  const packed = chunks.map(({ kind, chunk }) =>
    compression === 'deflate' && kind !== TIMES_KIND ? packLines(chunk.values) : undefined,
  )
  const insert = (at: number): void => {
    const place = from + at
    const { name, kind, chunk } = chunks[at]!
    if (kind === TIMES_KIND) {
      const row = rowId(id, place)
      const first = Number(chunk.first)
      const checksum = timesChecksum(row, first, chunk.postings)
      statement(INSERT_TIMES).run(row, first, chunk.postings, checksum)
      return
    }
    const { values, postings, ordinal } = chunk
    const number = place - blocks
    const row = rowId(id, number)
    const sums = [valuesChecksum(row, name, kind, values), postingsChecksum(row, postings)]
    const lines = packed[at]
    statement(INSERT_CHUNK).run(row, lines ? '' : values, postings, ...sums, lines ?? null)
    const key = [id, name, kind, keyOf(chunk.first), ordinal, number]
    statement(INSERT_KEY).run(...key, keyChecksum(key))
  }
  return write(() => {
    // Another process may have marked it as gone.
    if (!statement(IS_BUILDING).get(id)) return false
    for (const at of chunks.keys()) insert(at)
    return true
  })
}
