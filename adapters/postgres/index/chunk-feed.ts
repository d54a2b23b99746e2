import type { Chunk } from '../../../src/store-kit/index/chunks.js'
import { ListKind } from '../../../src/store-kit/index/segment-source.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import { missingRows } from './segments.js'

/** Bytes as the server prints them. */
export const readBytes = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex')

/** A chunk of a part's lists. */
export interface FedChunk extends Pick<Chunk, 'values' | 'postings'> {
  readonly name: number
  readonly kind: number
}

/** The chunks of a part's lists, but for those of grams, in the order of their keys, some of which are in memory. */
export interface ChunkFeed {
  readonly segment: number
  /** The number of the next one to be read. */
  next: number
  /** True once all have been. */
  isRead: boolean
  /** Those that have been, from `at` on. */
  chunks: readonly FedChunk[]
  at: number
}

export const createFeed = (segment: number, from: number): ChunkFeed => ({
  segment,
  next: from,
  isRead: false,
  chunks: [],
  at: 0,
})

/** The next chunk; `undefined` where it is to be read first, or there is none. */
export const headOf = ({ chunks, at }: ChunkFeed): FedChunk | undefined => chunks[at]

export const isReady = (feed: ChunkFeed): boolean => feed.isRead || feed.at < feed.chunks.length

// Of each part.
const MOST_CHUNKS = 64

const isLow = ({ isRead, chunks, at }: ChunkFeed): boolean =>
  !isRead && chunks.length - at < MOST_CHUNKS / 2

/** Reads more of the chunks of those that have few left, in one statement. */
export async function fillFeeds(
  client: PostgresPoolClient,
  { chunks }: Names,
  feeds: readonly ChunkFeed[],
): Promise<void> {
  const low = new Map(feeds.filter(isLow).map((feed) => [feed.segment, feed]))
  const rows = await ask(
    client,
    `SELECT part.segment, chunk.*
     FROM unnest($1::int8[], $2::int4[]) AS part(segment, start)
     CROSS JOIN LATERAL (
       SELECT number, name, kind, vals, posts FROM ${chunks}
       WHERE segment = part.segment AND number >= start ORDER BY number LIMIT ${MOST_CHUNKS}
     ) AS chunk`,
    [...low.keys()],
    [...low.values()].map(({ next }) => next),
  )
  const read = new Map(
    [...low].map(([segment, { next }]) => [segment, { from: next, more: [] as FedChunk[] }]),
  )
  for (const [id, number, name, kind, values, posts] of rows) {
    const segment = Number(id)
    const feed = low.get(segment)!
    if (Number(number) !== feed.next) throw missingRows(segment)
    feed.next += 1
    // Made anew, as they are of the parts' chunks.
    if (Number(kind) === ListKind.grams) continue
    const postings = readBytes(posts!)
    const chunk = { name: Number(name), kind: Number(kind), values: values!, postings }
    read.get(segment)!.more.push(chunk)
  }
  for (const feed of low.values()) {
    const { from, more } = read.get(feed.segment)!
    feed.isRead = feed.next - from < MOST_CHUNKS
    feed.chunks = [...feed.chunks.slice(feed.at), ...more]
    feed.at = 0
  }
}
