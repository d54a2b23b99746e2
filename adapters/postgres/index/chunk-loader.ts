import type { TextRow } from '../connection/client.js'
import type { Ask } from '../connection/connection.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { createTimeSlices } from '../../../src/filter/time-slices.js'
import { TIMES_PER_BLOCK } from '../../../src/store-kit/index/time-blocks.js'
import { READ_LIMIT_EXCEEDED } from '../../../src/store-kit/planning/session.js'
import type { Names } from '../schema/names.js'
import { type ChunkCache, chunkCacheKey } from './chunk-cache.js'
import {
  type ChunkRow,
  keyOf,
  type Lists,
  type Request,
  requestStatement,
} from './chunk-requests.js'
import type { PostgresSegmentRow } from './index-state.js'
import type { KnownChunks } from './known-chunks.js'
import { createLoadedChunks } from './loaded-chunks.js'

/** Thrown by work on the index if a chunk has to be fetched first. */
export const CACHE_MISS = new Error('a chunk of the index has to be fetched first')

/** Chunks that one query may hold at a time. */
const MAX_BYTES = 64 * 2 ** 20
/** Chunks that one statement may fetch. */
const MAX_CHUNKS = 4096
/** Each fetch in one direction gets this many times as many chunks as the one before. */
const GROWTH = 4

/**
 * Reads the index for one query, in its snapshot. Requests for missing chunks are noted, and then fetched in one
 * statement. Chunks stay until the query ends, even if the cache drops them.
 */
export interface ChunkLoader {
  /** The known chunks of the lists. */
  known(lists: Lists): KnownChunks
  /** The number that a name has in the segment; `undefined` if it has none. */
  numberOf(name: string, segment: Pick<PostgresSegmentRow, 'id' | 'names'>): number | undefined
  times(segment: number, block: number): readonly Microseconds[]
  /** The first times of all blocks. */
  firsts(segment: Pick<PostgresSegmentRow, 'id' | 'size' | 'starts'>): Float64Array
  /** Adds a request to the next fetch. */
  note(request: Request): void
  /** Number of chunks to fetch at once at an end of the lists. */
  readonly atEnd: number
  /** Number of chunks to fetch at once when reading on in a direction. */
  ahead(lists: Lists, direction: 'up' | 'down'): number
  /** Chunks fetched by number. */
  readonly bulk: Map<string, readonly ChunkRow[]>
  /** Number of requests that were ever noted. */
  noted(): number
  /** Runs the noted requests; false if there are none. */
  fetch(): Promise<boolean>
  /** Drops the chunks that only this query holds. */
  release(): void
}

export interface ChunkLoaderOptions {
  readonly names: Names
  readonly cache: ChunkCache
  readonly ask: Ask
  /** Called with the number of rows that were fetched. */
  readonly onRead?: ((rows: number) => void) | undefined
  /** See `SessionOptions`. */
  readonly chunksAtOnce?: number | undefined
}

export function createChunkLoader({
  names,
  cache,
  ask,
  onRead,
  chunksAtOnce,
}: ChunkLoaderOptions): ChunkLoader {
  const loaded = createLoadedChunks(cache)
  let counts = new Map<string, number>()
  let missing = new Map<string, Request>()
  let noted = 0

  const note = (request: Request): void => {
    noted += 1
    missing.set(keyOf(request), request)
  }
  const miss = (request: Request): never => {
    note(request)
    throw CACHE_MISS
  }

  return {
    known: (lists) => loaded.known(lists),
    note,
    bulk: loaded.bulk,
    noted: () => noted,
    numberOf(name, { id, names: last }) {
      const from = cache.names.last()
      return from < last
        ? miss({ by: 'names', segment: id, from })
        : cache.names.numberOf(name, last)
    },
    times: (segment, block) =>
      loaded.times(segment, block) ?? miss({ by: 'times', segment, block }),
    firsts: ({ id, size, starts }) =>
      loaded.firsts(id) ??
      miss({
        by: 'firsts',
        segment: id,
        blocks: Math.ceil(size / TIMES_PER_BLOCK),
        digest: starts,
      }),
    atEnd: chunksAtOnce ?? 1,
    ahead(lists, direction) {
      if (chunksAtOnce !== undefined) return chunksAtOnce
      const key = `${chunkCacheKey(lists)} ${direction}`
      const count = (counts.get(key) ?? 1) * GROWTH
      counts.set(key, Math.min(count, MAX_CHUNKS))
      return count
    },
    async fetch() {
      if (missing.size === 0) return false
      const requests = [...missing.values()]
      missing = new Map()
      limitChunks(requests)
      const { text, params } = requestStatement(names, requests)
      const found: TextRow[][] = requests.map(() => [])
      for (const row of await ask(text, ...params)) found[Number(row[0])]!.push(row)
      const slices = createTimeSlices()
      for (const [i, rows] of found.entries()) {
        onRead?.(rows.length)
        loaded.add(requests[i]!, rows)
        if (slices.isOver()) await slices.next()
      }
      if (loaded.bytes() > MAX_BYTES) throw READ_LIMIT_EXCEEDED
      return true
    },
    release() {
      loaded.release()
      counts = new Map()
    },
  }
}

/** Limits the number of chunks that one statement fetches. */
function limitChunks(requests: readonly Request[]): void {
  const runs = requests.flatMap((request) =>
    request.by === 'up' || request.by === 'down' ? [request] : [],
  )
  const sum = runs.reduce((sum, { max }) => sum + max, 0)
  if (sum <= MAX_CHUNKS) return
  for (const run of runs) run.max = Math.max(1, Math.floor((run.max * MAX_CHUNKS) / sum))
}
