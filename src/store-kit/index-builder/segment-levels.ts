import type { IndexBounds } from '../index/index-bounds.js'

/** How segments are built. Existing segments may have been built with other values. */
export interface SealingTuning {
  /** Number of events that are sealed into one segment. */
  readonly segmentSize: number
  /** Number of segments of one level that are merged into one segment of the next level. */
  readonly fanOut: number
  /** Minimum number of text chunks of a name for which grams are listed. @default `MIN_GRAM_CHUNKS` */
  readonly minGramChunks?: number | undefined
  /** What a part of the index holds at most. @default `INDEX_BOUNDS` */
  readonly bounds?: IndexBounds | undefined
}

/** Higher levels are not merged, as a merge holds the times of all its events in memory. */
const MAX_LEVEL = 2

/** The oldest segments of the lowest level that has enough to merge. `segments` are in order of time. */
export function nextToMerge<Segment extends { readonly level: number }>(
  segments: readonly Segment[],
  fanOut: number,
): readonly Segment[] | undefined {
  for (let level = 0; level < MAX_LEVEL; level++) {
    const some = segments.filter((segment) => segment.level === level)
    if (some.length >= fanOut) return some.slice(0, fanOut)
  }
  return undefined
}
