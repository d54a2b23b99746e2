import { LRUCache } from 'lru-cache'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { createKnownNames, type KnownNames } from '../../../src/store-kit/index/attribute-names.js'
import type { FigureCounts } from '../../../src/store-kit/index/figure-counts.js'
import type { Lists } from './chunk-requests.js'
import { createKnownChunks, type KnownChunks } from './known-chunks.js'

/** Caches the chunks and names that a process has read, and its counts of segments, which never change. */
export interface ChunkCache {
  /** The known chunks of the lists. Call `keep` after adding chunks to them. */
  known(lists: Lists): KnownChunks
  keep(lists: Lists, known: KnownChunks): void
  times(segment: number, block: number): readonly Microseconds[] | undefined
  keepTimes(segment: number, block: number, times: readonly Microseconds[]): void
  firsts(segment: number): Float64Array | undefined
  keepFirsts(segment: number, times: Float64Array): void
  readonly names: KnownNames
  /** Counts of a segment. The key names the segment and everything that the counts depend on. */
  figures(key: string): FigureCounts | undefined
  keepFigures(key: string, counts: FigureCounts): void
}

const MB = 2 ** 20
const CHUNK_BYTES = 24 * MB
const TIMES_BYTES = 8 * MB
const FIGURES_BYTES = 8 * MB
const ENTRY_BYTES = 200
const NUMBER_BYTES = 8

function bytesOf(key: string, { levels, levelsOf, facets }: FigureCounts): number {
  let bytes = ENTRY_BYTES + key.length + ENTRY_BYTES * levels.length
  for (const [, some] of levelsOf) bytes += ENTRY_BYTES * some.length
  for (const [, { values }] of facets)
    for (const [value] of values) bytes += ENTRY_BYTES + String(value).length
  return bytes
}

export const chunkCacheKey = ({ segment, name, kind }: Lists): string =>
  `${segment} ${name} ${kind}`

/** `chunkBytes` bounds the memory for chunks. */
export function createChunkCache(chunkBytes = CHUNK_BYTES): ChunkCache {
  const chunks = new LRUCache<string, KnownChunks>({
    maxSize: chunkBytes,
    sizeCalculation: ({ bytes }) => bytes,
  })
  const times = new LRUCache<string, readonly Microseconds[] | Float64Array>({
    maxSize: TIMES_BYTES,
    sizeCalculation: ({ length }) => ENTRY_BYTES + NUMBER_BYTES * length,
  })
  const figures = new LRUCache<string, FigureCounts>({
    maxSize: FIGURES_BYTES,
    sizeCalculation: (counts, key) => bytesOf(key, counts),
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
    figures: (key) => figures.get(key),
    keepFigures: (key, counts) => void figures.set(key, counts),
  }
}
