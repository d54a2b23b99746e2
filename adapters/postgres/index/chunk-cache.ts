import { LRUCache } from 'lru-cache'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Lists } from './chunk-requests.js'
import { createKnownChunks, type KnownChunks } from './known-chunks.js'

/** Caches the parts of segments that a process has read. Segments never change. */
export interface ChunkCache {
  /** The known chunks of the lists. Call `keep` after adding chunks to them. */
  known(lists: Lists): KnownChunks
  keep(lists: Lists, known: KnownChunks): void
  times(segment: number, block: number): readonly Microseconds[] | undefined
  keepTimes(segment: number, block: number, times: readonly Microseconds[]): void
  firsts(segment: number): Float64Array | undefined
  keepFirsts(segment: number, times: Float64Array): void
  /** The number of a name; `undefined` if it had none in this version, `unknown` if that is not cached. */
  name(name: string, version: number): number | undefined | 'unknown'
  keepName(name: string, version: number, number: number | undefined): void
}

const MB = 2 ** 20
const CHUNK_BYTES = 24 * MB
const TIMES_BYTES = 8 * MB
// `max` would allocate all entries of each cache at once, which takes milliseconds.
const NAMES = { maxSize: 10_000, sizeCalculation: () => 1 }
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
  const numbers = new LRUCache<string, number>(NAMES)
  /** The last version in which a name had no number. */
  const unnumbered = new LRUCache<string, number>(NAMES)
  const blockKey = (segment: number, block: number): string => `${segment} ${block}`

  return {
    known: (lists) => chunks.get(chunkCacheKey(lists)) ?? createKnownChunks(),
    keep: (lists, known) => void chunks.set(chunkCacheKey(lists), known),
    times: (segment, block) => times.get(blockKey(segment, block)) as readonly Microseconds[],
    keepTimes: (segment, block, values) => void times.set(blockKey(segment, block), values),
    firsts: (segment) => times.get(String(segment)) as Float64Array | undefined,
    keepFirsts: (segment, values) => void times.set(String(segment), values),
    name(name, version) {
      const number = numbers.get(name)
      if (number !== undefined) return number
      // A name never loses its number.
      return (unnumbered.get(name) ?? -1) >= version ? undefined : 'unknown'
    },
    keepName(name, version, number) {
      if (number !== undefined) numbers.set(name, number)
      else unnumbered.set(name, Math.max(version, unnumbered.get(name) ?? version))
    },
  }
}
