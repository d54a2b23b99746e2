import { readValues } from '../../../src/store-kit/index/read-chunks.js'
import {
  type ChunkLines,
  type ChunkReader,
  type ChunkValues,
  type Key,
  keyOf,
  type PlaceRange,
} from '../../../src/store-kit/index/segment-source.js'
import type { Connection } from '../connection/connection.js'
import { CHUNK_ID, rowId } from './row-ids.js'

/** The lists of one name and kind in one segment. */
export interface Lists {
  readonly segment: number
  readonly name: number
  readonly kind: number
}

// CROSS JOIN fixes the order: the key is looked up first, then its chunk.
const select = (where: string, order: 'ASC' | 'DESC'): string =>
  `SELECT k.first, k.ordinal, c.vals, c.posts
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

const LINES = `SELECT id, vals AS lines FROM daybook_chunks WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ${BULK}`

const POSTINGS = 'SELECT posts FROM daybook_chunks WHERE id = ?'

/** `onRead` is called for each chunk that is read. */
export function createChunkReader(
  { statement }: Connection,
  onRead?: () => void,
): ChunkReader<Lists> {
  const reader =
    (text: string) =>
    ({ segment, name, kind }: Lists, ...rest: readonly Key[]): ChunkValues | undefined => {
      const chunk = statement(text)
        .raw(true)
        .get(segment, name, kind, ...rest)
      if (chunk) onRead?.()
      return chunk as ChunkValues | undefined
    }
  const endOf = (text: string, { segment, name, kind }: Lists): number | undefined => {
    const row = statement(text).get(segment, name, kind) as { readonly chunk: number } | undefined
    return row && rowId(segment, row.chunk)
  }

  /** The ids of chunks ascend in the order of their keys. */
  function* inBulk(lists: Lists, places = ALL): Generator<readonly ChunkLines[], void> {
    const first = endOf(END_CHUNK('ASC'), lists)
    if (first === undefined) return
    const end = endOf(END_CHUNK('DESC'), lists)! + 1
    for (const { from, to } of places) {
      const last = Math.min(first + to, end) - 1
      for (let next = first + from; next <= last; next += BULK) {
        const chunks = statement(LINES).raw(false).all(next, last) as ChunkLines[]
        for (const _ of chunks) onRead?.()
        yield chunks
      }
    }
  }

  const floor = reader(FLOOR)

  return {
    inBulk,
    at(id, lines) {
      const { posts } = statement(POSTINGS).get(id) as { readonly posts: Uint8Array }
      const [first] = readValues(lines.slice(0, (lines.indexOf('\n') + 1 || Infinity) - 1))
      return [keyOf(first!), 0, lines, posts]
    },
    floor,
    floors: (lists, keys) => keys.map((key) => floor(lists, key)),
    before: reader(BEFORE),
    after: reader(AFTER),
    first: reader(FIRST),
    last: reader(LAST),
    pieceAt: reader(PIECE_AT),
    pieceAfter: reader(PIECE_AFTER),
  }
}
