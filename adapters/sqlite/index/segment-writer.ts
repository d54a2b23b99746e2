import type { NamedChunk } from '../../../src/store-kit/index-builder/column-chunks.js'
import type {
  BatchLimits,
  BuildingSegment,
  NewSegment,
  WrittenSegment,
} from '../../../src/store-kit/index-builder/index-driver.js'
import {
  keyOf,
  UNNAMED_LISTS,
  SegmentState,
  TIMES_KIND,
} from '../../../src/store-kit/index/segment-source.js'
import { TIMES_PER_BLOCK } from '../../../src/store-kit/index/time-blocks.js'
import type { Connection } from '../connection/connection.js'
import type { DriverContext } from './driver-context.js'
import {
  eventsDigest,
  keyChecksum,
  SUMMED_COLUMNS,
} from '../../../src/store-kit/index/checksums.js'
import { postingsChecksum, timesChecksum, valuesChecksum } from './checksums.js'
import { packLines } from './packed-lines.js'
import { rowId } from './row-ids.js'

export const BATCH_LIMITS: BatchLimits = { bytes: 131_072, rows: 500 }

const INSERT_SEGMENT = `INSERT INTO daybook_segments (state, level, size, first, last, removed, partial, digest, names, chunks, checksum)
  VALUES (${SegmentState.building}, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0) RETURNING id`

const IS_BUILDING = `SELECT 1 FROM daybook_segments WHERE id = ? AND state = ${SegmentState.building}`

const SET_VISIBLE = `UPDATE daybook_segments SET state = ${SegmentState.visible},
  chunks = ? - (size + ${TIMES_PER_BLOCK - 1}) / ${TIMES_PER_BLOCK},
  names = coalesce((SELECT max(name) FROM daybook_chunk_keys WHERE segment = id AND name < ${UNNAMED_LISTS}), 0)
  WHERE id = ?`

const SUMMED = `SELECT ${SUMMED_COLUMNS} FROM daybook_segments WHERE id = ?`

const SET_CHECKSUM = 'UPDATE daybook_segments SET checksum = ? WHERE id = ?'

const INSERT_CHUNK = `INSERT INTO daybook_chunks (id, vals, posts, vals_checksum, posts_checksum, packed)
  VALUES (?, ?, ?, ?, ?, ?)`

const INSERT_KEY = `INSERT INTO daybook_chunk_keys (segment, name, kind, first, ordinal, chunk, checksum)
  VALUES (?, ?, ?, ?, ?, ?, ?)`

const INSERT_TIMES =
  'INSERT INTO daybook_segment_times (id, first, times, checksum) VALUES (?, ?, ?, ?)'

/** False once another process has marked the segment as gone. */
export const isBuilding = ({ statement }: Connection, id: number): boolean =>
  statement(IS_BUILDING).get(id) !== undefined

/** Makes queries read the segment, within a transaction. */
export function setVisible({ statement }: Connection, { id, chunks }: WrittenSegment): void {
  statement(SET_VISIBLE).run(chunks, id)
  const row = statement(SUMMED).raw(true).get(id) as number[]
  statement(SET_CHECKSUM).run(keyChecksum(row), id)
}

export const beginSegment = (
  { connection, write }: DriverContext,
  { level, times, removed, isPartial }: NewSegment,
): Promise<number> =>
  write(() => {
    const values = [
      level,
      times.length,
      times[0],
      times[times.length - 1],
      removed,
      Number(isPartial),
      eventsDigest(times),
    ]
    return (connection.statement(INSERT_SEGMENT).get(...values) as { readonly id: number }).id
  })

/** The blocks of times have a table of their own. */
export function insertChunks(
  { connection, write, compression }: DriverContext,
  { id, size }: BuildingSegment,
  from: number,
  chunks: readonly NamedChunk<number>[],
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
    if (!isBuilding(connection, id)) return false
    for (const at of chunks.keys()) insert(at)
    return true
  })
}
