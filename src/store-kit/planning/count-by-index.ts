import type { Microseconds } from '../../event/timestamp.js'
import type { TimeBounds } from '../../filter/bounds.js'
import { createTimeSlices } from '../../filter/time-slices.js'
import type { CountsQuery } from '../../store/counts.js'
import { type CoveredCells, cutCells, wholeCells } from '../counting/covered-cells.js'
import type { Slice } from '../counting/slices.js'
import type { Tally } from '../counting/tally.js'
import { figureQuery } from '../index/counted-figures.js'
import {
  addFigures,
  type CountedLevel,
  createFigures,
  type FigureCounts,
  type FigureQuery,
  joinFigures,
} from '../index/figure-counts.js'
import { indexFilter } from '../index/index-filter.js'
import type { FetchedPart } from '../index/part.js'
import { type Work, withRequests } from '../index/work.js'
import type { IndexSession } from './session.js'

// Events of the parts that are counted together. The lists of a name take about a byte for each. The first parts show
// whether a facet has too many values.
const FIRST_EVENTS = 2 ** 16
const MAX_EVENTS = 2 ** 19

/** A part, and the ranges to be counted in it. */
export interface CoveredPart {
  readonly part: FetchedPart
  /** Cut to the times of the part. */
  readonly ranges: readonly TimeBounds[]
  /** The number of the first of them among all ranges. */
  readonly start: number
}

/** The segments of a log at one moment. Each event outside of `uncovered` is in exactly one part, or it is open. */
export interface SealedIndex extends Pick<IndexSession, 'parts' | 'tasks' | 'release'> {
  readonly uncovered: readonly TimeBounds[]
  /** The number of events in the uncovered ranges, at most; `undefined` if it is not known. */
  readonly maxRest: number | undefined
  /** The times of the open live events. */
  readonly open: readonly Microseconds[]
  /** The ordinals of the events of the part that do not count, ascending. */
  readonly removedFrom: (part: FetchedPart) => ArrayLike<number>
  /** Counts of parts that the store keeps. */
  readonly kept?: KeptCounts | undefined
}

export interface KeptCounts {
  /** A short name of the query; a filter may have very many values. */
  nameOf(query: FigureQuery): string
  find(one: CoveredPart, name: string): FigureCounts | undefined
  keep(one: CoveredPart, name: string, counts: FigureCounts): void
  /** Requests what counting the part will read. */
  request(one: CoveredPart, query: FigureQuery): void
}

/** Figures that the index has counted, and the cells that it does not cover. */
export interface IndexedFigures extends CoveredCells {
  /** Lacks facets that have too many values, or values that the index does not have. */
  readonly figures: FigureCounts
  readonly sealed: SealedIndex
}

/**
 * Counts the events of the segments by their values, without reading events. `undefined` if the index cannot have exactly
 * the events that match, or too few of all events.
 */
export async function countByIndex(
  query: CountsQuery,
  tally: Tally,
  open: (bounds: TimeBounds) => Promise<SealedIndex | undefined>,
): Promise<IndexedFigures | undefined> {
  const figures = figureQuery(query, tally)
  const cells = wholeCells(tally)
  if (!figures || cells.length === 0) return undefined
  const sealed = await open({ from: cells[0]!.from, to: cells.at(-1)!.to })
  if (!sealed) return undefined
  const { covered, rest } = cutCells(cells, sealed.uncovered)
  if (covered.length === 0) return undefined
  const filters = [tally.shared, ...tally.own.values()].filter((where) => indexFilter(where))
  const found = await countParts(sealed, { figures, filters: filters.length, covered })
  return found && { figures: found, covered, rest, sealed }
}

interface PartsCount {
  readonly figures: FigureQuery
  /** The number of filters that the index evaluates. */
  readonly filters: number
  readonly covered: readonly Slice[]
}

/** `undefined` if a part does not have exactly the events that match. */
async function countParts(
  { parts, tasks, release, removedFrom, kept }: SealedIndex,
  { figures, filters, covered }: PartsCount,
): Promise<FigureCounts | undefined> {
  const joined = createFigures(figures)
  const slices = createTimeSlices()
  const waiting = parts.flatMap((part) => coveredPart(part, covered) ?? [])
  const join = ({ start }: CoveredPart, counts: FigureCounts): Promise<void> =>
    slices.finish(joinFigures(joined, numberedFrom(start, counts)))
  let query = figures
  let name = kept?.nameOf(query) ?? ''
  for (let max = FIRST_EVENTS; waiting.length > 0;) {
    if (joined.facets.size < query.facets.length) {
      query = { ...figures, facets: [...joined.facets.keys()] }
      name = kept?.nameOf(query) ?? ''
    }
    const known = kept?.find(waiting[0]!, name)
    if (known) {
      await join(waiting.shift()!, known)
      continue
    }
    const some = takeParts(waiting, max / (1 + query.facets.length + filters))
    max = MAX_EVENTS
    const found = await tasks.all(
      some.map((one) => () => {
        const keep = (counts: FigureCounts): void => kept?.keep(one, name, counts)
        const work = countPart(one, query, removedFrom(one.part), keep)
        return withRequests(work, () => kept?.request(one, query))
      }),
    )
    release()
    for (const [i, counts] of found.entries()) {
      if (!counts) return undefined
      await join(some[i]!, counts)
    }
  }
  return joined
}

/** `covered` is in order of time. `undefined` if the part has no event in it. */
function coveredPart(part: FetchedPart, covered: readonly Slice[]): CoveredPart | undefined {
  const start = covered.findIndex(({ to }) => to >= part.first)
  if (start < 0) return undefined
  const ranges = covered
    .slice(start)
    .filter(({ from }) => from <= part.last)
    .map(({ from, to }) => ({ from: Math.max(from, part.first), to: Math.min(to, part.last) }))
  return ranges.length > 0 ? { part, ranges, start } : undefined
}

/** Removes the next parts, which have up to `max` events, or one that has more. */
function takeParts(waiting: CoveredPart[], max: number): CoveredPart[] {
  const taken: CoveredPart[] = []
  for (
    let left = max;
    waiting.length > 0 && (taken.length === 0 || waiting[0]!.part.size <= left);
  ) {
    const one = waiting.shift()!
    left -= one.part.size
    taken.push(one)
  }
  return taken
}

/** Counts the part by itself, as the task may start again. */
function* countPart(
  { part, ranges }: CoveredPart,
  query: FigureQuery,
  removed: ArrayLike<number>,
  keep: (counts: FigureCounts) => void,
): Work<FigureCounts | undefined> {
  const counts = createFigures(query)
  if (!(yield* addFigures(counts, part, ranges, removed))) return undefined
  const { levels, levelsOf, facets } = counts
  // Without the query, whose filter may be large.
  const whole = { levels, levelsOf, facets }
  keep(whole)
  return whole
}

/** The counts, with the ranges numbered from `start` on. */
function numberedFrom(start: number, { levels, levelsOf, facets }: FigureCounts): FigureCounts {
  const moved = (some: readonly CountedLevel[]): CountedLevel[] =>
    some.map((one) => ({ ...one, range: one.range + start }))
  return {
    levels: moved(levels),
    levelsOf: new Map(Array.from(levelsOf, ([facet, some]) => [facet, moved(some)])),
    facets,
  }
}
