import { eventsDigest } from '../../../src/store-kit/index/checksums.js'
import {
  type ChunkValues,
  damagedNames,
  DamagedSegment,
  type Key,
  missingRows,
  NO_NAME,
  TIMES_KIND,
} from '../../../src/store-kit/index/segment-source.js'
import { Kind } from '../../../src/store-kit/index/part.js'
import { decodeTimes } from '../../../src/store-kit/index/time-blocks.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { TextRow } from '../connection/client.js'
import { type ChunkCache, chunkCacheKey } from './chunk-cache.js'
import { type ChunkRow, keyOf, type Lists, readChunkRow, type Request } from './chunk-requests.js'
import { before, after, END, type KnownChunks, type PlacedChunk, START } from './known-chunks.js'
import { numberOfKey } from './segment-keys.js'

/**
 * Chunks of the index that one query has, from the cache or from its own fetches. They stay until the query ends, even if
 * the cache drops them.
 */
export interface LoadedChunks {
  /** The known chunks of the lists. */
  known(lists: Lists): KnownChunks
  /** `undefined` before they were fetched. */
  times(segment: number, block: number): readonly Microseconds[] | undefined
  /** `undefined` before they were fetched. */
  firsts(segment: number): Float64Array | undefined
  /** Chunks fetched by number. */
  readonly bulk: Map<string, readonly ChunkRow[]>
  /** Size of the chunks that this query has fetched. */
  bytes(): number
  /** Adds the rows that answer a request, also to the cache. */
  add(request: Request, rows: readonly TextRow[]): void
  release(): void
}

const keyOfBytes = (kind: number, first: string): Key => {
  const bytes = Buffer.from(first, 'hex')
  return kind === Kind.text ? bytes.toString() : numberOfKey(bytes)
}

function placedChunk(kind: number, row: ChunkRow): PlacedChunk {
  const chunk: ChunkValues = [keyOfBytes(kind, row.first), row.ordinal, row.vals, row.posts]
  return { first: row.first, ordinal: row.ordinal, chunk }
}

function readTimes(segment: number, [row]: readonly TextRow[]): readonly Microseconds[] {
  if (!row) throw missingRows(segment)
  const { first, posts } = readChunkRow({ segment, name: NO_NAME, kind: TIMES_KIND }, row)
  return decodeTimes(numberOfKey(Buffer.from(first, 'hex')), posts)
}

function readFirsts(
  { segment, digest }: Extract<Request, { by: 'firsts' }>,
  posts: string | null,
): Float64Array {
  const bytes = Buffer.from(posts ?? '', 'base64')
  const times = new Float64Array(Math.floor(bytes.length / 8))
  for (const i of times.keys()) times[i] = numberOfKey(bytes.subarray(i * 8, i * 8 + 8))
  if (eventsDigest(times) !== digest)
    throw new DamagedSegment(segment, 'the digest of its first times is wrong')
  return times
}

export function createLoadedChunks(cache: ChunkCache): LoadedChunks {
  let held = new Map<string, KnownChunks>()
  let times = new Map<string, readonly Microseconds[]>()
  let firsts = new Map<number, Float64Array>()
  const bulk = new Map<string, readonly ChunkRow[]>()
  let bytes = 0

  const known = (lists: Lists): KnownChunks => {
    const key = chunkCacheKey(lists)
    let found = held.get(key)
    if (!found) held.set(key, (found = cache.known(lists)))
    return found
  }

  const add = (request: Request, rows: readonly TextRow[]): void => {
    switch (request.by) {
      case 'names':
        cache.names.add(
          rows.map(([, , , name, , number, sum]) => [Number(number), name!, Number(sum)]),
        )
        if (cache.names.last() <= request.from) throw damagedNames(request.segment)
        break
      case 'times': {
        const block = readTimes(request.segment, rows)
        times.set(keyOf(request), block)
        cache.keepTimes(request.segment, request.block, block)
        break
      }
      case 'firsts': {
        const values = readFirsts(request, rows[0]![4]!)
        firsts.set(request.segment, values)
        cache.keepFirsts(request.segment, values)
        break
      }
      case 'numbers':
        if (rows.length !== request.to + 1 - request.from) throw missingRows(request.lists.segment)
        bulk.set(
          keyOf(request),
          rows.map((row) => readChunkRow(request.lists, row)),
        )
        break
      default: {
        const found = known(request.lists)
        const size = found.bytes
        learn(found, request, rows)
        bytes += found.bytes - size
        cache.keep(request.lists, found)
      }
    }
  }

  return {
    known,
    bulk,
    add,
    bytes: () => bytes,
    times: (segment, block) =>
      times.get(keyOf({ by: 'times', segment, block })) ?? cache.times(segment, block),
    firsts: (segment) => firsts.get(segment) ?? cache.firsts(segment),
    release() {
      held = new Map()
      times = new Map()
      firsts = new Map()
      bytes = 0
    },
  }
}

type ListRequest = Exclude<Extract<Request, { lists: Lists }>, { by: 'numbers' }>

function learn(found: KnownChunks, request: ListRequest, rows: readonly TextRow[]): void {
  const { by, lists } = request
  if (by === 'ends') {
    const [, , first, last] = rows[0]!
    found.ends = first === null ? 'none' : [Number(first), Number(last)]
    return
  }
  const chunks = rows.map((row) => placedChunk(lists.kind, readChunkRow(lists, row)))
  if (by === 'pieces') return found.learn(before(request.first), chunks, after(request.first))
  const isAll = chunks.length < request.max
  if (by === 'up') found.learn(request.place, chunks, isAll ? END : chunks.at(-1)!)
  else found.learn(isAll ? START : chunks.at(-1)!, chunks.toReversed(), request.place)
}
