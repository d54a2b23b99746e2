import type { ChunkValues, Key } from '../../../src/store-kit/index/segment-source.js'
import { Kind } from '../../../src/store-kit/index/part.js'
import { decodeTimes } from '../../../src/store-kit/index/time-blocks.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { TextRow } from '../connection/client.js'
import type { Ask } from '../connection/connection.js'
import type { Names } from '../schema/names.js'
import { numberOfKey } from './segment-keys.js'
import { type ChunkCache, chunkCacheKey } from './chunk-cache.js'
import {
  type ChunkRow,
  keyOf,
  type Lists,
  readChunkRow,
  type Request,
  requestStatement,
} from './chunk-requests.js'
import { before, after, END, type KnownChunks, type PlacedChunk, START } from './known-chunks.js'

/** Thrown by work on the index if a chunk has to be fetched first. */
export const CACHE_MISS = new Error('a chunk of the index has to be fetched first')

/** Thrown if a query would read too much of the index into memory. */
export const READ_LIMIT_EXCEEDED = new Error('too much of the index would be read')

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
  numberOf(name: string): number | undefined
  times(segment: number, block: number): readonly Microseconds[]
  firsts(segment: number, blocks: number): Float64Array
  /** Adds a request to the next fetch. */
  note(request: Request): void
  /** Number of chunks to fetch at once when reading on in a direction. */
  ahead(lists: Lists, direction: 'up' | 'down'): number
  /** Chunks fetched by number. */
  readonly bulk: Map<string, readonly ChunkRow[]>
  /** Number of requests that were ever noted. */
  readonly noted: number
  /** Runs the noted requests; false if there are none. */
  fetch(): Promise<boolean>
  /** Drops the chunks that only this query holds. */
  release(): void
}

export interface ChunkLoaderOptions {
  readonly names: Names
  readonly cache: ChunkCache
  /** Version of the index in the snapshot. */
  readonly version: number
  readonly ask: Ask
  /** Called with the number of rows that were fetched. */
  readonly onRead?: ((rows: number) => void) | undefined
}

export const bulkKey = (segment: number, from: number, to: number): string =>
  `${segment} ${from} ${to}`

const keyOfBytes = (kind: number, first: string): Key => {
  const bytes = Buffer.from(first, 'hex')
  return kind === Kind.text ? bytes.toString() : numberOfKey(bytes)
}

function placedChunk(kind: number, row: ChunkRow): PlacedChunk {
  const chunk: ChunkValues = [keyOfBytes(kind, row.first), row.number, row.vals, row.posts]
  return { first: row.first, ordinal: row.number, chunk }
}

function readFirsts(posts: string | null): Float64Array {
  const bytes = Buffer.from(posts ?? '', 'base64')
  const times = new Float64Array(bytes.length / 8)
  for (const i of times.keys()) times[i] = numberOfKey(bytes.subarray(i * 8, i * 8 + 8))
  return times
}

export function createChunkLoader({
  names,
  cache,
  version,
  ask,
  onRead,
}: ChunkLoaderOptions): ChunkLoader {
  let held = new Map<string, KnownChunks>()
  let times = new Map<string, readonly Microseconds[]>()
  let firsts = new Map<number, Float64Array>()
  const numbers = new Map<string, number | undefined>()
  const bulk = new Map<string, readonly ChunkRow[]>()
  let counts = new Map<string, number>()
  let missing = new Map<string, Request>()
  let [noted, bytes] = [0, 0]

  const note = (request: Request): void => {
    noted += 1
    missing.set(keyOf(request), request)
  }
  const miss = (request: Request): never => {
    note(request)
    throw CACHE_MISS
  }
  const known = (lists: Lists): KnownChunks => {
    const key = chunkCacheKey(lists)
    let found = held.get(key)
    if (!found) held.set(key, (found = cache.known(lists)))
    return found
  }

  const learnChunks = (
    request: Extract<Request, { lists: Lists }>,
    rows: readonly TextRow[],
  ): void => {
    const { by, lists } = request
    const found = known(lists)
    const size = found.bytes
    if (by === 'ends') {
      const [, , first, last] = rows[0]!
      found.ends = first === null ? 'none' : [Number(first), Number(last)]
    } else {
      const chunks = rows.map((row) => placedChunk(lists.kind, readChunkRow(row)))
      if (by === 'pieces') found.learn(before(request.first), chunks, after(request.first))
      else {
        const isAll = chunks.length < request.max
        if (by === 'up') found.learn(request.place, chunks, isAll ? END : chunks.at(-1)!)
        else found.learn(isAll ? START : chunks.at(-1)!, chunks.toReversed(), request.place)
      }
    }
    bytes += found.bytes - size
    cache.keep(lists, found)
  }

  const learn = (request: Request, rows: readonly TextRow[]): void => {
    switch (request.by) {
      case 'name': {
        const number = rows[0] && Number(rows[0][2])
        numbers.set(request.name, number)
        cache.keepName(request.name, version, number)
        break
      }
      case 'times': {
        const [row] = rows.map(readChunkRow)
        const first = numberOfKey(Buffer.from(row!.first, 'hex'))
        const block = decodeTimes(first, row!.posts)
        times.set(keyOf(request), block)
        cache.keepTimes(request.segment, request.block, block)
        break
      }
      case 'firsts': {
        const values = readFirsts(rows[0]![4]!)
        firsts.set(request.segment, values)
        cache.keepFirsts(request.segment, values)
        break
      }
      case 'numbers':
        bulk.set(bulkKey(request.segment, request.from, request.to), rows.map(readChunkRow))
        break
      default:
        learnChunks(request, rows)
    }
  }

  return {
    known,
    note,
    bulk,
    get noted() {
      return noted
    },
    numberOf(name) {
      if (numbers.has(name)) return numbers.get(name)
      const number = cache.name(name, version)
      if (number === 'unknown') return miss({ by: 'name', name })
      numbers.set(name, number)
      return number
    },
    times(segment, block) {
      const request: Request = { by: 'times', segment, block }
      const found = times.get(keyOf(request)) ?? cache.times(segment, block)
      return found ?? miss(request)
    },
    firsts(segment, blocks) {
      const found = firsts.get(segment) ?? cache.firsts(segment)
      return found ?? miss({ by: 'firsts', segment, blocks })
    },
    ahead(lists, direction) {
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
      for (const [i, rows] of found.entries()) {
        onRead?.(rows.length)
        learn(requests[i]!, rows)
      }
      if (bytes > MAX_BYTES) throw READ_LIMIT_EXCEEDED
      return true
    },
    release() {
      held = new Map()
      times = new Map()
      firsts = new Map()
      counts = new Map()
      bytes = 0
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
