import type {
  ChunkFeed,
  ChunkFeeds,
  FeedChunk,
} from '../../../src/store-kit/index-builder/index-driver.js'
import { ListKind, missingRows, NO_NAME } from '../../../src/store-kit/index/segment-source.js'
import type { Connection } from '../connection/connection.js'
import type { SqliteSegmentRow } from './index-state.js'
import { CHUNK_ID, rowId, rowIds } from './row-ids.js'

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

const CHUNK = 'SELECT vals, posts FROM daybook_chunks WHERE id = ?'

const LAST_CHUNK = 'SELECT max(id) AS last FROM daybook_chunks WHERE id >= ? AND id < ?'

/** Reads the chunks of a segment one by one, so it is always ready. */
function openFeed({ statement }: Connection, id: number): ChunkFeed {
  const { last } = statement(LAST_CHUNK).get(...rowIds(id)) as { readonly last: number | null }
  const chunkCount = last === null ? 0 : last + 1 - rowId(id, 0)
  let lists: Lists | undefined
  let following: Lists | undefined
  let number = 0
  let head: FeedChunk | undefined

  const after = (before: Lists | undefined): Lists | undefined =>
    before && (statement(NEXT_LISTS).get(id, before.name, before.kind) as Lists | undefined)
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
  const read = ({ name, kind }: Lists): FeedChunk => {
    const row = statement(CHUNK).raw(true).get(rowId(id, number))
    if (!row) throw missingRows(id)
    const [values, postings] = row as [string, Uint8Array]
    return { name, kind, values, postings }
  }

  moveTo(statement(FIRST_LISTS).get(id) as Lists | undefined)
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

export const openFeeds = (
  connection: Connection,
  segments: readonly SqliteSegmentRow[],
): ChunkFeeds => ({
  feeds: segments.map(({ id }) => openFeed(connection, id)),
  fetch: () => Promise.resolve(),
})

const NEXT_NAME = `SELECT name FROM daybook_chunk_keys WHERE segment = ? AND name > ?
  ORDER BY name LIMIT 1`

/** The numbers of the names that have lists in the segment, ascending. */
export function listedNames(
  { statement }: Connection,
  { id }: SqliteSegmentRow,
): readonly number[] {
  const names: number[] = []
  for (;;) {
    const next = statement(NEXT_NAME).get(id, names.at(-1) ?? NO_NAME)
    if (!next) return names
    names.push((next as { readonly name: number }).name)
  }
}

const LIST = `SELECT c.vals, c.posts
  FROM daybook_chunk_keys AS k CROSS JOIN daybook_chunks AS c ON c.id = ${CHUNK_ID}
  WHERE k.segment = ? AND k.name = ? AND k.kind = ? ORDER BY k.first, k.ordinal`

/** The chunks of the lists of one name and kind. */
export const readChunks = (
  { statement }: Connection,
  { id }: SqliteSegmentRow,
  { name, kind }: Pick<Lists, 'name' | 'kind'>,
): readonly FeedChunk[] =>
  (statement(LIST).raw(true).all(id, name, kind) as [string, Uint8Array][]).map(
    ([values, postings]) => ({ name, kind, values, postings }),
  )
