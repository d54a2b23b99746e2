import type { Order } from '../../../src/store-kit/index/part.js'
import {
  type ChunkLines,
  type ChunkReader,
  type ChunkValues,
  type Key,
  missingRows,
  type PlaceRange,
  type WholeChunk,
} from '../../../src/store-kit/index/segment-source.js'
import type { Connection } from '../connection/connection.js'
import { keyChecksum } from '../../../src/store-kit/index/checksums.js'
import { postingsChecksum, readingSegment, segmentChecks, valuesChecksum } from './checksums.js'
import { linesReader, STORED_LINES, type StoredLines } from './packed-lines.js'
import { CHUNK_ID, rowId, segmentOf } from './row-ids.js'

/** The lists of one name and kind in one segment. */
export interface Lists {
  readonly segment: number
  readonly name: number
  readonly kind: number
}

// CROSS JOIN fixes the order: the key is looked up first, then its chunk.
const select = (where: string, order: 'ASC' | 'DESC'): string =>
  `SELECT k.first, k.ordinal, ${STORED_LINES}, c.posts, k.chunk, k.checksum, c.vals_checksum, c.posts_checksum
   FROM daybook_chunk_keys AS k CROSS JOIN daybook_chunks AS c ON c.id = ${CHUNK_ID}
   WHERE k.segment = ? AND k.name = ? AND k.kind = ? ${where}
   ORDER BY k.first ${order}, k.ordinal ${order} LIMIT 1`

const FLOOR = select('AND k.first <= ?', 'DESC')
const BEFORE = select('AND k.first < ?', 'DESC')
const AFTER = select('AND k.first > ?', 'ASC')
const FIRST = select('', 'ASC')
const LAST = select('', 'DESC')
const PIECE_AT = select('AND k.first = ? AND k.ordinal <= ?', 'DESC')
const PIECE_AFTER = select('AND k.first = ? AND k.ordinal > ?', 'ASC')

/** Chunks that are read at once. */
const BULK = 32

const ALL: readonly PlaceRange[] = [{ from: 0, to: Infinity }]

const END_CHUNK = (order: 'ASC' | 'DESC'): string =>
  `SELECT chunk FROM daybook_chunk_keys WHERE segment = ? AND name = ? AND kind = ?
   ORDER BY first ${order}, ordinal ${order} LIMIT 1`

const LINES = `SELECT id, ${STORED_LINES} AS lines, vals_checksum AS checksum FROM daybook_chunks AS c
  WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ${BULK}`

const WHOLE = `SELECT id, ${STORED_LINES}, posts, vals_checksum, posts_checksum FROM daybook_chunks AS c
  WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ${BULK}`

const POSTINGS = 'SELECT posts, posts_checksum AS checksum FROM daybook_chunks WHERE id = ?'

type ReadChunk = readonly [
  first: Key,
  ordinal: number,
  lines: StoredLines,
  postings: Uint8Array,
  number: number,
  keySum: number,
  valuesSum: number,
  postingsSum: number,
]

type ReadWhole = readonly [
  id: number,
  lines: StoredLines,
  postings: Uint8Array,
  valuesSum: number,
  postingsSum: number,
]

interface ReadLines {
  readonly id: number
  readonly lines: StoredLines
  readonly checksum: number
}

/** The id of the first or last chunk of the lists. */
function endOf(
  { statement }: Connection,
  order: 'ASC' | 'DESC',
  { segment, name, kind }: Lists,
): number | undefined {
  const select = statement(END_CHUNK(order))
  const row = readingSegment(segment, () => select.get(segment, name, kind))
  return row === undefined ? undefined : rowId(segment, (row as { readonly chunk: number }).chunk)
}

function* wholeChunks(
  connection: Connection,
  lists: Lists,
  onRead: (() => void) | undefined,
): Generator<readonly WholeChunk[], void> {
  const { segment, name, kind } = lists
  const checks = segmentChecks(connection)
  const linesOf = linesReader(connection)
  const check = ([id, stored, postings, valuesSum, postingsSum]: ReadWhole): WholeChunk => {
    onRead?.()
    const lines = linesOf(id, stored)
    checks.values(segment, id, () => valuesChecksum(id, name, kind, lines) === valuesSum)
    checks.postings(segment, id, () => postingsChecksum(id, postings) === postingsSum)
    return { lines, postings }
  }
  const first = endOf(connection, 'ASC', lists)
  if (first === undefined) return
  const last = endOf(connection, 'DESC', lists)!
  for (let next = first; next <= last; next += BULK) {
    const select = connection.statement(WHOLE).raw(true)
    const chunks = readingSegment(segment, () => select.all(next, last)) as ReadWhole[]
    if (chunks.length < Math.min(BULK, last + 1 - next)) throw missingRows(segment)
    yield chunks.map(check)
  }
}

type ReadChunkAt = (lists: Lists, ...key: readonly Key[]) => ChunkValues | undefined

interface WalkReads {
  readonly floor: ReadChunkAt
  readonly ends: Readonly<Record<Order, ReadChunkAt>>
  readonly next: Readonly<Record<Order, ReadChunkAt>>
}

function* walkChunks(
  { floor, ends, next }: WalkReads,
  lists: Lists,
  order: Order,
  from: Key | undefined,
): Generator<ChunkValues, void, undefined> {
  let chunk = from === undefined ? undefined : floor(lists, from)
  if (from === undefined || (!chunk && order === 'asc')) chunk = ends[order](lists)
  for (; chunk; chunk = next[order](lists, chunk[0])) yield chunk
}

/** `onRead` is called for each chunk that is read. */
export function createChunkReader(connection: Connection, onRead?: () => void): ChunkReader<Lists> {
  const { statement } = connection
  const checks = segmentChecks(connection)

  const linesOf = linesReader(connection)

  const check = ({ segment, name, kind }: Lists, chunk: ReadChunk): ChunkValues => {
    const [first, ordinal, stored, postings, number, keySum, valuesSum, postingsSum] = chunk
    const id = rowId(segment, number)
    const values = linesOf(id, stored)
    checks.key(
      segment,
      id,
      () => keyChecksum([segment, name, kind, first, ordinal, number]) === keySum,
    )
    checks.values(segment, id, () => valuesChecksum(id, name, kind, values) === valuesSum)
    checks.postings(segment, id, () => postingsChecksum(id, postings) === postingsSum)
    return [first, ordinal, values, postings]
  }
  const reader =
    (text: string) =>
    (lists: Lists, ...rest: readonly Key[]): ChunkValues | undefined => {
      const { segment, name, kind } = lists
      const select = statement(text).raw(true)
      const chunk = readingSegment(segment, () => select.get(segment, name, kind, ...rest))
      if (!chunk) return undefined
      onRead?.()
      return check(lists, chunk as ReadChunk)
    }
  /** The ids of chunks ascend in the order of their keys. */
  function* inBulk(lists: Lists, places = ALL): Generator<readonly ChunkLines[], void> {
    const first = endOf(connection, 'ASC', lists)
    if (first === undefined) return
    const end = endOf(connection, 'DESC', lists)! + 1
    const { segment, name, kind } = lists
    for (const { from, to } of places) {
      const last = Math.min(first + to, end) - 1
      for (let next = first + from; next <= last; next += BULK) {
        const select = statement(LINES).raw(false)
        const chunks = readingSegment(segment, () => select.all(next, last)) as ReadLines[]
        if (chunks.length < Math.min(BULK, last + 1 - next)) throw missingRows(segment)
        yield chunks.map(({ id, lines: stored, checksum }): ChunkLines => {
          onRead?.()
          const lines = linesOf(id, stored)
          checks.values(segment, id, () => valuesChecksum(id, name, kind, lines) === checksum)
          return { id, lines }
        })
      }
    }
  }

  const floor = reader(FLOOR)
  const reads: WalkReads = {
    floor,
    ends: { asc: reader(FIRST), desc: reader(LAST) },
    next: { asc: reader(AFTER), desc: reader(BEFORE) },
  }

  return {
    inBulk,
    whole: (lists) => wholeChunks(connection, lists, onRead),
    postingsOf(id) {
      const segment = segmentOf(id)
      const found = readingSegment(segment, () => statement(POSTINGS).get(id))
      if (found === undefined) throw missingRows(segment)
      const { posts, checksum } = found as {
        readonly posts: Uint8Array
        readonly checksum: number
      }
      checks.postings(segment, id, () => postingsChecksum(id, posts) === checksum)
      return posts
    },
    floor,
    walk: (lists, order, from) => walkChunks(reads, lists, order, from),
    pieceAt: reader(PIECE_AT),
    pieceAfter: reader(PIECE_AFTER),
  }
}
