import type { IndexBounds } from '../index/index-bounds.js'
import type { SegmentRow } from '../maintenance/index-rows.js'

/** How segments are built. Existing segments may have been built with other values. */
export interface SealingTuning {
  /** Number of events that are sealed into one segment. */
  readonly segmentSize: number
  /** Number of segments of one level that are merged into one segment of the next level. */
  readonly fanOut: number
  /** Minimum number of text chunks of a name for which grams are listed. @default `MIN_GRAM_CHUNKS` */
  readonly minGramChunks?: number | undefined
  /** Maximum sizes of a part of the index. @default `INDEX_BOUNDS` */
  readonly bounds?: IndexBounds | undefined
  /** When events are sealed that are too few for a segment of level 0. @default never */
  readonly early?: EarlySealing | undefined
}

/** Bounds how many events a process that has just started has to read before the index has all of them. */
export interface EarlySealing {
  readonly minEvents: number
  /** Milliseconds without sealing after which events are sealed early; up to twice as many, by chance. */
  readonly afterMs: number
}

/** The level of segments that were sealed early. */
export const EARLY_LEVEL = -1

/** From this number of neighbours that were sealed early on, some are merged even if they have too few events for level 0. */
const MAX_EARLY = 8

/** Segments of this level are not merged, as a merge holds the times of all its events in memory. */
export const MAX_LEVEL = 2

type Levelled = Pick<SegmentRow, 'level' | 'size'>

const isEarly = ({ level }: Levelled): boolean => level === EARLY_LEVEL

const sizeOf = (segments: readonly Levelled[]): number =>
  segments.reduce((sum, { size }) => sum + size, 0)

const ofLevel = <Segment extends Levelled>(
  segments: readonly Segment[],
  level: number,
): readonly Segment[] => segments.filter((segment) => segment.level === level)

/** From this many times `fanOut` segments of one level on, merging them is overdue. */
const OVERDUE_FAN_OUTS = 2

/** The levels below `endLevel` that have too many segments, highest first. */
function overdueLevels(
  segments: readonly Levelled[],
  { fanOut }: Pick<SealingTuning, 'fanOut'>,
  endLevel = MAX_LEVEL,
): readonly number[] {
  const levels: number[] = []
  for (let level = endLevel - 1; level >= 0; level--)
    if (ofLevel(segments, level).length >= OVERDUE_FAN_OUTS * fanOut) levels.push(level)
  return levels
}

/** True if some level has so many segments that merging them must not wait for sealing. */
export const isMergeOverdue = (
  segments: readonly Levelled[],
  tuning: Pick<SealingTuning, 'fanOut'>,
): boolean => overdueLevels(segments, tuning).length > 0

/**
 * The oldest segments of the lowest level below `endLevel` that has enough to merge; but of the highest level that
 * is overdue, if any is, because lower levels are merged in the middle of that. `segments` are in order of time.
 */
export function nextToMerge<Segment extends Levelled>(
  segments: readonly Segment[],
  tuning: Pick<SealingTuning, 'fanOut' | 'segmentSize'>,
  endLevel = MAX_LEVEL,
): readonly Segment[] | undefined {
  const { fanOut, segmentSize } = tuning
  for (const run of earlyRuns(segments)) {
    if (run.length > 1 && sizeOf(run) >= segmentSize) return run
    if (run.length >= MAX_EARLY) return newestOf(run)
  }
  const levels = Array.from({ length: Math.max(0, endLevel) }, (_, level) => level)
  for (const level of [...overdueLevels(segments, tuning, endLevel), ...levels]) {
    const some = ofLevel(segments, level)
    if (some.length >= fanOut) return withEarly(segments, some.slice(0, fanOut))
  }
  return undefined
}

/** The highest level of the segments. */
export const highestLevel = (segments: readonly Levelled[]): number =>
  Math.max(...segments.map(({ level }) => level))

/** The level of a segment that is merged from these. */
export const mergedLevel = (
  parts: readonly Levelled[],
  { segmentSize }: Pick<SealingTuning, 'segmentSize'>,
): number =>
  parts.every(isEarly) && sizeOf(parts) < segmentSize ? EARLY_LEVEL : highestLevel(parts) + 1

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
