import { createCollectedTimes } from '../../src/store-kit/index/collected-times.js'
import { DamagedSegment, missingRows, NO_NAME } from '../../src/store-kit/index/segment-source.js'
import { TIMES_PER_BLOCK, decodeTimes } from '../../src/store-kit/index/time-blocks.js'
import { isPartialKind } from '../../src/store-kit/index/verify-segments.js'
import type { IndexPart } from '../../src/store-kit/index/part.js'
import type { Microseconds } from '../../src/event/timestamp.js'
import type { Connection } from './connection/connection.js'
import { keyChecksum } from '../../src/store-kit/index/checksums.js'
import {
  postingsChecksum,
  readingSegment,
  timesChecksum,
  valuesChecksum,
} from './index/checksums.js'
import type { SqliteSegmentRow } from './index/index-state.js'
import { STORED_LINES, type StoredLines, unpackLines } from './index/packed-lines.js'
import { rowId } from './index/row-ids.js'

/** Rows that are read at once. */
const STEP = 64

const KEYS = `SELECT name, kind, first, ordinal, chunk, checksum FROM daybook_chunk_keys
  WHERE segment = ? AND (name, kind, first, ordinal) > (?, ?, ?, ?)
  ORDER BY name, kind, first, ordinal LIMIT ${STEP}`

const CHUNK = `SELECT ${STORED_LINES}, posts, vals_checksum, posts_checksum FROM daybook_chunks AS c WHERE id = ?`

type KeyRow = [
  name: number,
  kind: number,
  first: string | number,
  ordinal: number,
  chunk: number,
  sum: number,
]

/** Reads all rows of a segment; throws `DamagedSegment`. Yields where the work may pause. */
export function* verifySegment(
  connection: Connection,
  row: SqliteSegmentRow,
): Generator<undefined, void> {
  const fail = (reason: string): never => {
    throw new DamagedSegment(row.id, reason)
  }
  yield* verifyTimes(connection, row)
  const { statement } = connection
  let last: KeyRow = [NO_NAME, 0, 0, 0, -1, 0]
  for (let number = 0; ;) {
    const select = statement(KEYS).raw(true)
    const keys = readingSegment(row.id, () => select.all(row.id, ...last.slice(0, 4))) as KeyRow[]
    for (const key of keys) {
      const [name, kind, , , chunk, sum] = key
      if (keyChecksum([row.id, ...key.slice(0, 5)]) !== sum) fail('a checksum of its keys is wrong')
      if (chunk !== number) fail('its keys are not in order')
      if (isPartialKind(kind) && !row.isPartial) fail('its row is wrong')
      verifyChunk(connection, row.id, { number, name, kind })
      number += 1
    }
    if (keys.length < STEP) {
      if (number !== row.chunks) fail(`it has ${number} chunks instead of ${row.chunks}`)
      return
    }
    last = keys.at(-1)!
    yield
  }
}

const TIMES = 'SELECT first, times, checksum FROM daybook_segment_times WHERE id = ?'

/** Reads the rows themselves: a part may have times in memory. */
function* verifyTimes(
  { statement }: Connection,
  segment: SqliteSegmentRow,
): Generator<undefined, void> {
  const { id, size } = segment
  const times = createCollectedTimes(segment)
  while (times.count < size) {
    const row = rowId(id, times.count / TIMES_PER_BLOCK)
    const found = readingSegment(id, () => statement(TIMES).raw(true).get(row))
    if (!found) throw missingRows(id)
    const [start, data, checksum] = found as [Microseconds, Uint8Array, number]
    if (timesChecksum(row, start, data) !== checksum)
      throw new DamagedSegment(id, 'a checksum of its times is wrong')
    times.add(decodeTimes(start, data))
    yield
  }
  times.all()
}

function verifyChunk(
  { statement }: Connection,
  segment: number,
  { number, name, kind }: { readonly number: number; readonly name: number; readonly kind: number },
): void {
  const id = rowId(segment, number)
  const found = readingSegment(segment, () => statement(CHUNK).raw(true).get(id))
  if (!found) throw missingRows(segment)
  const [lines, postings, valuesSum, postingsSum] = found as [
    StoredLines,
    Uint8Array,
    number,
    number,
  ]
  if (valuesChecksum(id, name, kind, unpackLines(id, lines)) !== valuesSum)
    throw new DamagedSegment(segment, 'a checksum of its values is wrong')
  if (postingsChecksum(id, postings) !== postingsSum)
    throw new DamagedSegment(segment, 'a checksum of its postings is wrong')
}

/** The times that a segment has within the bounds. */
export function* timesBetween(
  part: IndexPart,
  from: Microseconds,
  to: Microseconds,
): Generator<Microseconds, void> {
  const end = part.countBefore(to + 1)
  for (let i = part.countBefore(from); i < end; i++) yield part.timeOf(i)
}
