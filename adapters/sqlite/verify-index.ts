import { DamagedSegment, ListKind, NO_NAME } from '../../src/store-kit/index/segment-source.js'
import { BLOCK, decodeTimes } from '../../src/store-kit/index/time-blocks.js'
import type { IndexPart } from '../../src/store-kit/index/part.js'
import type { Microseconds } from '../../src/event/timestamp.js'
import type { Connection } from './connection/connection.js'
import { eventsDigest, keyChecksum } from '../../src/store-kit/index/checksums.js'
import {
  postingsChecksum,
  readingSegment,
  timesChecksum,
  valuesChecksum,
} from './index/checksums.js'
import type { SqliteSegmentRow } from './index/index-state.js'
import { rowId } from './index/row-ids.js'

/** Rows that are read at once. */
const STEP = 64

const KEYS = `SELECT name, kind, first, ordinal, chunk, checksum FROM daybook_chunk_keys
  WHERE segment = ? AND (name, kind, first, ordinal) > (?, ?, ?, ?)
  ORDER BY name, kind, first, ordinal LIMIT ${STEP}`

const CHUNK = 'SELECT vals, posts, vals_checksum, posts_checksum FROM daybook_chunks WHERE id = ?'

type KeyRow = [
  name: number,
  kind: number,
  first: string | number,
  ordinal: number,
  chunk: number,
  sum: number,
]

const PARTIAL_KINDS: ReadonlySet<number> = new Set([
  ListKind.partial,
  ListKind.otherNames,
  ListKind.others,
])

/** Reads all rows of a segment; throws `DamagedSegment`. Yields where the work may pause. */
export function* verifySegment(
  connection: Connection,
  row: SqliteSegmentRow,
): Generator<undefined, void> {
  const fail = (reason: string): never => {
    throw new DamagedSegment(row.id, reason)
  }
  yield* verifyTimes(connection, row, fail)
  const { statement } = connection
  let last: KeyRow = [NO_NAME, 0, 0, 0, -1, 0]
  for (let number = 0; ;) {
    const select = statement(KEYS).raw(true)
    const keys = readingSegment(row.id, () => select.all(row.id, ...last.slice(0, 4))) as KeyRow[]
    for (const key of keys) {
      const [name, kind, , , chunk, sum] = key
      if (keyChecksum([row.id, ...key.slice(0, 5)]) !== sum) fail('a checksum of its keys is wrong')
      if (chunk !== number) fail('its keys are not in order')
      if (PARTIAL_KINDS.has(kind) && !row.isPartial) fail('its row is wrong')
      verifyChunk(connection, row.id, number, { name, kind }, fail)
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
  { id, size, first, last, digest }: SqliteSegmentRow,
  fail: (reason: string) => never,
): Generator<undefined, void> {
  const times = new Float64Array(size)
  for (let from = 0; from < size; from += BLOCK) {
    const row = rowId(id, from / BLOCK)
    const found = readingSegment(id, () => statement(TIMES).raw(true).get(row))
    if (!found) fail('rows are missing')
    const [start, data, checksum] = found as [Microseconds, Uint8Array, number]
    if (timesChecksum(row, start, data) !== checksum) fail('a checksum of its times is wrong')
    const block = decodeTimes(start, data)
    if (block.length !== Math.min(BLOCK, size - from)) fail('its number of events is wrong')
    times.set(block, from)
    yield
  }
  if (eventsDigest(times) !== digest) fail('the digest of its events is wrong')
  if (times[0] !== first || times[size - 1] !== last) fail('its time range is wrong')
}

function verifyChunk(
  { statement }: Connection,
  segment: number,
  number: number,
  { name, kind }: { readonly name: number; readonly kind: number },
  fail: (reason: string) => never,
): void {
  const id = rowId(segment, number)
  const found = readingSegment(segment, () => statement(CHUNK).raw(true).get(id))
  if (!found) return fail('rows are missing')
  const [values, postings, valuesSum, postingsSum] = found as [string, Uint8Array, number, number]
  if (valuesChecksum(id, name, kind, values) !== valuesSum)
    fail('a checksum of its values is wrong')
  if (postingsChecksum(id, postings) !== postingsSum) fail('a checksum of its postings is wrong')
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
