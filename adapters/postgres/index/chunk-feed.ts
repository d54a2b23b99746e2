import type {
  ChunkFeed,
  ChunkFeeds,
  FeedChunk,
} from '../../../src/store-kit/maintenance/index-store.js'
import type { SegmentRow } from '../../../src/store-kit/maintenance/index-rows.js'
import { ListKind, missingRows } from '../../../src/store-kit/index/segment-source.js'
import { TIMES_PER_BLOCK } from '../../../src/store-kit/index/time-blocks.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import { CHUNK_COLUMNS, readStoredChunk, type SummedChunk } from './checksums.js'
import type { DriverContext } from './driver-context.js'

/** A feed with some chunks in memory. */
interface BufferedFeed extends ChunkFeed {
  readonly segment: number
  /** The number of the first chunk that has not been read. */
  readonly next: number
  /** True if it is worth reading more. */
  isLow(): boolean
  /** Takes in the chunks from `next` on. */
  add(chunks: readonly SummedChunk[]): void
}

/** Chunks that are read of each segment at once. */
const MAX_CHUNKS = 64

/** Blocks of times come first. */
function createFeed({ id, size }: SegmentRow): BufferedFeed {
  let next = Math.ceil(size / TIMES_PER_BLOCK)
  let isRead = false
  let chunks: readonly FeedChunk[] = []
  let at = 0
  return {
    segment: id,
    get next() {
      return next
    },
    isReady: () => isRead || at < chunks.length,
    head: () => chunks[at],
    advance: () => void (at += 1),
    isLow: () => !isRead && chunks.length - at < MAX_CHUNKS / 2,
    add(read) {
      if (read.some(({ number }, i) => number !== next + i)) throw missingRows(id)
      next += read.length
      isRead = read.length < MAX_CHUNKS
      // Skips lists of grams: they refer to chunks, so a merge makes new ones.
      const more = read.filter(({ kind }) => kind !== ListKind.grams)
      chunks = [...chunks.slice(at), ...more]
      at = 0
    },
  }
}

/** Reads more chunks for the feeds that have few left, in one statement. */
async function fillFeeds(
  client: PostgresPoolClient,
  { chunks }: Names,
  feeds: readonly BufferedFeed[],
): Promise<void> {
  const low = feeds.filter((feed) => feed.isLow())
  const rows = await ask(
    client,
    `SELECT part.segment, chunk.*
     FROM unnest($1::int8[], $2::int4[]) AS part(segment, start)
     CROSS JOIN LATERAL (
       SELECT ${CHUNK_COLUMNS} FROM ${chunks}
       WHERE segment = part.segment AND number >= start ORDER BY number LIMIT ${MAX_CHUNKS}
     ) AS chunk`,
    low.map(({ segment }) => segment),
    low.map(({ next }) => next),
  )
  const chunksOf = new Map(low.map(({ segment }): [number, SummedChunk[]] => [segment, []]))
  for (const [id, ...row] of rows) {
    const segment = Number(id)
    chunksOf.get(segment)!.push(readStoredChunk(segment, row))
  }
  for (const feed of low) feed.add(chunksOf.get(feed.segment)!)
}

export function openFeeds(
  { names, run }: DriverContext,
  segments: readonly SegmentRow[],
): ChunkFeeds {
  const feeds = segments.map(createFeed)
  return { feeds, fetch: () => run((client) => fillFeeds(client, names, feeds)) }
}

/** The numbers of the names that have lists in the segment, ascending. Looks up the next name each time. */
export async function listedNames(
  { names: { chunks }, run }: DriverContext,
  { id }: SegmentRow,
): Promise<readonly number[]> {
  const rows = await run((client) =>
    ask(
      client,
      `WITH RECURSIVE listed AS (
         SELECT 0 AS name
         UNION ALL
         SELECT (SELECT name FROM ${chunks} WHERE segment = $1 AND name > listed.name
           ORDER BY segment, name, kind, first, ordinal LIMIT 1)
         FROM listed WHERE name IS NOT NULL
       )
       SELECT name FROM listed WHERE name > 0`,
      id,
    ),
  )
  return rows.map(([name]) => Number(name))
}

/** The chunks of the lists of one name and kind. */
export async function readChunks(
  { names: { chunks }, run }: DriverContext,
  { id }: SegmentRow,
  { name, kind }: Pick<FeedChunk, 'name' | 'kind'>,
): Promise<readonly FeedChunk[]> {
  const rows = await run((client) =>
    ask(
      client,
      `SELECT ${CHUNK_COLUMNS} FROM ${chunks} WHERE segment = $1 AND name = $2 AND kind = $3
       ORDER BY first, ordinal`,
      id,
      name,
      kind,
    ),
  )
  return rows.map((row) => readStoredChunk(id, row))
}
