import type { IndexBounds } from '../index/index-bounds.js'
import type { SegmentRow } from './index-driver.js'

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
  /** When events are sealed that are too few for a segment of level 0. @default never */
  readonly early?: EarlySealing | undefined
}

/** Bounds how many events a process that has just started has to read before the index has all of them. */
export interface EarlySealing {
  readonly minEvents: number
  /** For so many milliseconds, or up to twice as many, nothing was sealed. */
  readonly afterMs: number
}

/** The level of segments that were sealed early. */
export const EARLY_LEVEL = -1

/** With so many neighbours that were sealed early, some are merged even if they have too few events for level 0. */
const MAX_EARLY = 8

/** Higher levels are not merged, as a merge holds the times of all its events in memory. */
const MAX_LEVEL = 2

type Levelled = Pick<SegmentRow, 'level' | 'size'>

const isEarly = ({ level }: Levelled): boolean => level === EARLY_LEVEL

const sizeOf = (segments: readonly Levelled[]): number =>
  segments.reduce((sum, { size }) => sum + size, 0)

/** The oldest segments of the lowest level that has enough to merge. `segments` are in order of time. */
export function nextToMerge<Segment extends Levelled>(
  segments: readonly Segment[],
  { fanOut, segmentSize }: Pick<SealingTuning, 'fanOut' | 'segmentSize'>,
): readonly Segment[] | undefined {
  for (const run of earlyRuns(segments)) {
    if (run.length > 1 && sizeOf(run) >= segmentSize) return run
    if (run.length >= MAX_EARLY) return newestOf(run)
  }
  for (let level = 0; level < MAX_LEVEL; level++) {
    const some = segments.filter((segment) => segment.level === level)
    if (some.length >= fanOut) return withEarly(segments, some.slice(0, fanOut))
  }
  return undefined
}

/** The level of a segment that is merged from these. */
export const mergedLevel = (
  parts: readonly Levelled[],
  { segmentSize }: Pick<SealingTuning, 'segmentSize'>,
): number =>
  parts.every(isEarly) && sizeOf(parts) < segmentSize
    ? EARLY_LEVEL
    : Math.max(...parts.map(({ level }) => level)) + 1

/** The newest segments, without older ones that are much larger: so no event is merged often. */
function newestOf<Segment extends Levelled>(run: readonly Segment[]): readonly Segment[] {
  let from = run.length - 2
  for (let size = sizeOf(run.slice(from)); from > 0 && run[from - 1]!.size <= 2 * size; from -= 1)
    size += run[from - 1]!.size
  return run.slice(from)
}

/** The neighbours that were sealed early. */
function earlyRuns<Segment extends Levelled>(segments: readonly Segment[]): Segment[][] {
  const runs: Segment[][] = [[]]
  for (const segment of segments)
    if (isEarly(segment)) runs.at(-1)!.push(segment)
    else runs.push([])
  return runs
}

/** Adds the segments that were sealed early, between the others and next before them. */
function withEarly<Segment extends Levelled>(
  segments: readonly Segment[],
  some: readonly Segment[],
): readonly Segment[] {
  let from = segments.indexOf(some[0]!)
  while (from > 0 && isEarly(segments[from - 1]!)) from -= 1
  const to = segments.indexOf(some.at(-1)!)
  return segments.slice(from, to + 1).filter((one) => isEarly(one) || some.includes(one))
}
