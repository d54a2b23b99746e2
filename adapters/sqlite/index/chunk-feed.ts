import type {
  ChunkFeed,
  ChunkFeeds,
  FeedChunk,
} from '../../../src/store-kit/maintenance/index-store.js'
import {
  DamagedSegment,
  ListKind,
  missingRows,
  NO_NAME,
} from '../../../src/store-kit/index/segment-source.js'
import type { Connection } from '../connection/connection.js'
import type { SegmentRow } from '../../../src/store-kit/maintenance/index-rows.js'
import { postingsChecksum, readingSegment, valuesChecksum } from './checksums.js'
import { STORED_LINES, type StoredLines, unpackLines } from './packed-lines.js'
import { CHUNK_ID, rowId, segmentOf } from './row-ids.js'

/** The lists of one name and kind, and the number of their first chunk. */
interface Lists {
  readonly name: number
  readonly kind: number
  readonly chunk: number
}

const FIRST_LISTS = `SELECT name, kind, chunk FROM daybook_chunk_keys WHERE segment = ?
  ORDER BY name, kind, first, ordinal LIMIT 1`

const NEXT_LISTS = `SELECT name, kind, chunk FROM daybook_chunk_keys
  WHERE segment = ? AND (name, kind) > (?, ?) ORDER BY name, kind, first, ordinal LIMIT 1`

const CHUNK = `SELECT ${STORED_LINES}, posts, vals_checksum, posts_checksum FROM daybook_chunks AS c WHERE id = ?`

type ChunkRow = readonly [lines: StoredLines, postings: Uint8Array, valuesSum: number, sum: number]

/** Throws `DamagedSegment` unless the row is intact. */
export function checkedChunk(
  id: number,
  { name, kind }: Pick<Lists, 'name' | 'kind'>,
  row: unknown,
): FeedChunk {
  const [stored, postings, valuesSum, postingsSum] = row as ChunkRow
  const values = unpackLines(id, stored)
  if (
    valuesChecksum(id, name, kind, values) !== valuesSum ||
    postingsChecksum(id, postings) !== postingsSum
  )
    throw new DamagedSegment(segmentOf(id), 'a checksum of its chunks is wrong')
  return { name, kind, values, postings }
}

/** Reads the chunks of a segment one by one, so it is always ready. */
function openFeed({ statement }: Connection, { id, chunks: chunkCount }: SegmentRow): ChunkFeed {
  let lists: Lists | undefined
  let following: Lists | undefined
  let number = 0
  let head: FeedChunk | undefined

  const after = (before: Lists | undefined): Lists | undefined =>
    before &&
    (readingSegment(id, () => statement(NEXT_LISTS).get(id, before.name, before.kind)) as
      | Lists
      | undefined)
  /** Moves to these lists, or to the next ones that are merged. */
  const moveTo = (next: Lists | undefined): void => {
    lists = next
    following = after(lists)
    // Skips lists of grams: they refer to chunks, so a merge makes new ones.
    while (lists?.kind === ListKind.grams) {
      lists = following
      following = after(lists)
    }
    number = lists?.chunk ?? chunkCount
  }
  const read = (lists: Lists): FeedChunk => {
    const row = rowId(id, number)
    const chunk = readingSegment(id, () => statement(CHUNK).raw(true).get(row))
    if (!chunk) throw missingRows(id)
    return checkedChunk(row, lists, chunk)
  }

  moveTo(readingSegment(id, () => statement(FIRST_LISTS).get(id)) as Lists | undefined)
  return {
    isReady: () => true,
    head: () => (head ??= lists && read(lists)),
    advance() {
      head = undefined
      number += 1
      if (number >= (following?.chunk ?? chunkCount)) moveTo(following)
    },
  }
}

export const openFeeds = (connection: Connection, segments: readonly SegmentRow[]): ChunkFeeds => ({
  feeds: segments.map((segment) => openFeed(connection, segment)),
  fetch: () => Promise.resolve(),
})

const NEXT_NAME = `SELECT name FROM daybook_chunk_keys WHERE segment = ? AND name > ?
  ORDER BY name LIMIT 1`

/** The numbers of the names that have lists in the segment, ascending. */
export function listedNames({ statement }: Connection, { id }: SegmentRow): readonly number[] {
  const names: number[] = []
  for (;;) {
    const next = readingSegment(id, () => statement(NEXT_NAME).get(id, names.at(-1) ?? NO_NAME))
    if (!next) return names
    names.push((next as { readonly name: number }).name)
  }
}

const LIST = `SELECT k.chunk, ${STORED_LINES}, c.posts, c.vals_checksum, c.posts_checksum
  FROM daybook_chunk_keys AS k CROSS JOIN daybook_chunks AS c ON c.id = ${CHUNK_ID}
  WHERE k.segment = ? AND k.name = ? AND k.kind = ? ORDER BY k.first, k.ordinal`

/** The chunks of the lists of one name and kind. */
export const readChunks = (
  { statement }: Connection,
  { id }: SegmentRow,
  { name, kind }: Pick<Lists, 'name' | 'kind'>,
): readonly FeedChunk[] =>
  (
    readingSegment(id, () => statement(LIST).raw(true).all(id, name, kind)) as [
      number,
      ...unknown[],
    ][]
  ).map(([number, ...row]) => checkedChunk(rowId(id, number), { name, kind }, row))
