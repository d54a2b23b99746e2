/** How segments are made; a log may have been written with others. */
export interface SealingTuning {
  /** So many events are sealed at once. */
  readonly segmentSize: number
  /** So many segments of a level are merged into one of the next. */
  readonly fanOut: number
  /** The grams of texts are listed where these fill so many chunks; left out it is `LEAST_CHUNKS`. */
  readonly leastChunks?: number | undefined
}

// Merging holds the times of all events in memory.
const MAX_LEVEL = 2

/** Those to be merged next, which come in the order of time: the oldest of the lowest level that has enough. */
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
