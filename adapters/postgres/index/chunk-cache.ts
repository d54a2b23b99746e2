import { LRUCache } from 'lru-cache'
import { createKnownNames, type KnownNames } from '../../../src/store-kit/index/attribute-names.js'
import type { FigureCounts } from '../../../src/store-kit/index/figure-counts.js'
import type { Answers } from './answers.js'
import type { KnownFloors } from './known-floors.js'

/** A value of the cache. Its key is of a request, or of lists. */
export type Answer = Answers[keyof Answers] | KnownFloors

/** Caches answers and names that a process has read, and its counts of segments, which never change. */
export interface ChunkCache {
  get(key: string): Answer | undefined
  /** `bytes` is the approximate memory of the answer. */
  keep(key: string, answer: Answer, bytes: number): void
  readonly names: KnownNames
  /** Counts of a segment. The key names the segment and everything that the counts depend on. */
  figures(key: string): FigureCounts | undefined
  keepFigures(key: string, counts: FigureCounts): void
}

const MB = 2 ** 20
const CHUNK_BYTES = 32 * MB
const FIGURES_BYTES = 8 * MB
const ENTRY_BYTES = 200

function bytesOf(key: string, { levels, levelsOf, facets }: FigureCounts): number {
  let bytes = ENTRY_BYTES + key.length + ENTRY_BYTES * levels.length
  for (const [, some] of levelsOf) bytes += ENTRY_BYTES * some.length
  for (const [, { values }] of facets)
    for (const [value] of values) bytes += ENTRY_BYTES + String(value).length
  return bytes
}

/** `chunkBytes` bounds the memory for answers. */
export function createChunkCache(chunkBytes = CHUNK_BYTES): ChunkCache {
  const answers = new LRUCache<string, Answer>({ maxSize: chunkBytes })
  const figures = new LRUCache<string, FigureCounts>({
    maxSize: FIGURES_BYTES,
    sizeCalculation: (counts, key) => bytesOf(key, counts),
  })
  return {
    get: (key) => answers.get(key),
    keep: (key, answer, bytes) => void answers.set(key, answer, { size: key.length + bytes }),
    names: createKnownNames(),
    figures: (key) => figures.get(key),
    keepFigures: (key, counts) => void figures.set(key, counts),
  }
}
