import { LRUCache } from 'lru-cache'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { createKnownNames, type KnownNames } from '../../../src/store-kit/index/attribute-names.js'
import type { Lists } from './chunk-requests.js'
import { createKnownChunks, type KnownChunks } from './known-chunks.js'

/** Caches what a process has read of segments and names, which never change. */
export interface ChunkCache {
  /** The known chunks of the lists. Call `keep` after adding chunks to them. */
  known(lists: Lists): KnownChunks
  keep(lists: Lists, known: KnownChunks): void
  times(segment: number, block: number): readonly Microseconds[] | undefined
  keepTimes(segment: number, block: number, times: readonly Microseconds[]): void
  firsts(segment: number): Float64Array | undefined
  keepFirsts(segment: number, times: Float64Array): void
  readonly names: KnownNames
}

const MB = 2 ** 20
const CHUNK_BYTES = 24 * MB
const TIMES_BYTES = 8 * MB
const ENTRY_BYTES = 200
const NUMBER_BYTES = 8

export const chunkCacheKey = ({ segment, name, kind }: Lists): string =>
  `${segment} ${name} ${kind}`

export function createChunkCache(): ChunkCache {
  const chunks = new LRUCache<string, KnownChunks>({
    maxSize: CHUNK_BYTES,
    sizeCalculation: ({ bytes }) => bytes,
  })
  const times = new LRUCache<string, readonly Microseconds[] | Float64Array>({
    maxSize: TIMES_BYTES,
    sizeCalculation: ({ length }) => ENTRY_BYTES + NUMBER_BYTES * length,
  })
  const blockKey = (segment: number, block: number): string => `${segment} ${block}`

  return {
    known: (lists) => chunks.get(chunkCacheKey(lists)) ?? createKnownChunks(),
    keep: (lists, known) => void chunks.set(chunkCacheKey(lists), known),
    times: (segment, block) => times.get(blockKey(segment, block)) as readonly Microseconds[],
    keepTimes: (segment, block, values) => void times.set(blockKey(segment, block), values),
    firsts: (segment) => times.get(String(segment)) as Float64Array | undefined,
    keepFirsts: (segment, values) => void times.set(String(segment), values),
    names: createKnownNames(),
  }
}
