import { createHash } from 'node:crypto'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import { createTimeSlices } from '../../../src/filter/time-slices.js'
import {
  type CoveredCells,
  cutCells,
  wholeCells,
} from '../../../src/store-kit/counting/covered-cells.js'
import type { Slice } from '../../../src/store-kit/counting/slices.js'
import type { Tally } from '../../../src/store-kit/counting/tally.js'
import { figureQuery, halfwayTo } from '../../../src/store-kit/index/counted-figures.js'
import {
  addFigures,
  type CountedLevel,
  createFigures,
  type FigureCounts,
  type FigureQuery,
  joinFigures,
} from '../../../src/store-kit/index/figure-counts.js'
import type { Work } from '../../../src/store-kit/index/find-postings.js'
import { type IndexFilter, indexFilter } from '../../../src/store-kit/index/index-filter.js'
import type { IndexPart } from '../../../src/store-kit/index/part.js'
import { DamagedSegment } from '../../../src/store-kit/index/segment-source.js'
import type { CountsQuery } from '../../../src/store/counts.js'
import { READ_LIMIT_EXCEEDED } from '../../../src/store-kit/planning/session.js'
import type { PostgresSegmentRow } from '../index/index-state.js'
import type { LogIndex } from '../index/log-index.js'
import { prefetch, prefetchCounts } from '../index/prefetch.js'
import { MAX_LATE, MAX_REMOVED, type SealedState } from '../index/sealed-state.js'
import type { Coverage } from '../index/server-index.js'
import { openSession } from '../index/session.js'
import type { Snapshot } from '../log/snapshot.js'
import type { Names } from '../schema/names.js'

// Chunks that one request reads: a megabyte.
const CHUNKS_AT_ONCE = 256
// Events of the parts that are counted together. The lists of a name take about a byte for each. The first parts show
// whether a facet has too many values.
const FIRST_EVENTS = 2 ** 16
const MAX_EVENTS = 2 ** 19

export interface IndexCount {
  readonly names: Names
  readonly snapshot: Snapshot
  readonly index: LogIndex
  readonly sealed: SealedState
  readonly query: CountsQuery
  readonly tally: Tally
  /** How many events the index must have for a count to use it. */
  readonly minIndexed: number
  /** When the time of the count is over, as `performance.now()` counts. The index may take half of it. */
  readonly end: number
}

/** Figures that the index has counted, and the cells that it does not cover. */
export interface IndexedFigures extends CoveredCells {
  /** Lacks facets that have too many values, or values that the index does not have. */
  readonly figures: FigureCounts
  /** The number of events in `rest`, at most; `undefined` if it is not known. */
  readonly maxRest: number | undefined
}

/**
 * Counts the events of the segments by their values, without reading events. `undefined` if the index cannot have
 * exactly the events that match, or too few of all events, or if it is damaged, or if half of the time is over.
 */
export async function countByIndex(count: IndexCount): Promise<IndexedFigures | undefined> {
  const { index, sealed, query, tally, minIndexed } = count
  const figures = figureQuery(query, tally)
  const cells = wholeCells(tally)
  if (!figures || cells.length === 0 || sealed.late.length > MAX_LATE) return undefined
  const coverage = index.sealed(sealed)
  const bounds = { from: cells[0]!.from, to: cells.at(-1)!.to }
  // Few removed events leave gaps at their times; with many, the ranges of their segments are left out.
  const removed = sealed.removedTimes.length > MAX_REMOVED ? undefined : sealed.removedTimes
  const segments = coverage.segments.filter(
    (row) =>
      row.first <= bounds.to && row.last >= bounds.from && (removed || !sealed.changed.has(row.id)),
  )
  if (segments.reduce((sum, row) => sum + sizeWithin(row, bounds), 0) < minIndexed) return undefined
  const uncounted = uncountedRanges(sealed, segments).filter(
    ({ from, to }) => from <= to && from <= bounds.to && to >= bounds.from,
  )
  const { covered, rest } = cutCells(cells, [
    ...uncounted,
    ...[...sealed.late, ...(removed ?? [])].map((time) => ({ from: time, to: time })),
    { from: sealed.sealedTo + 1, to: Infinity },
  ])
  try {
    const found = await countParts(count, { figures, coverage: { ...coverage, segments }, covered })
    const maxRest =
      uncounted.length > 0
        ? undefined
        : sealed.unsealed + sealed.late.length + (removed?.length ?? 0)
    return found && { figures: found, covered, rest, maxRest }
  } catch (error) {
    if (error instanceof DamagedSegment) index.setAside(error)
    else if (error !== READ_LIMIT_EXCEEDED) throw error
    return undefined
  }
}

/** About how many events of the segment are within the bounds. */
function sizeWithin({ first, last, size }: PostgresSegmentRow, { from, to }: TimeBounds): number {
  const length = Math.min(last, to) - Math.max(first, from) + 1
  return (size * length) / (last - first + 1)
}

/**
 * The ranges of which the segments may have events that were removed, or events twice: a segment that was built anew
 * also has the late events of its range, which others may have.
 */
function uncountedRanges(
  { segments: all, removedBefore }: SealedState,
  segments: readonly PostgresSegmentRow[],
): TimeBounds[] {
  const counted = new Set(segments.map(({ id }) => id))
  const ranges = [
    { from: -Infinity, to: removedBefore - 1 },
    ...all
      .filter(({ id }) => !counted.has(id))
      .map(({ first, last }) => ({ from: first, to: last })),
  ]
  let latest = -Infinity
  for (const { first, last } of segments.toSorted((a, b) => a.first - b.first)) {
    ranges.push({ from: first, to: Math.min(last, latest) })
    latest = Math.max(last, latest)
  }
  return ranges
}

interface PartsCount {
  readonly figures: FigureQuery
  readonly coverage: Coverage
  readonly covered: readonly Slice[]
}

async function countParts(
  { names, snapshot, tally, end }: IndexCount,
  { figures, coverage, covered }: PartsCount,
): Promise<FigureCounts | undefined> {
  if (covered.length === 0) return undefined
  const latest = halfwayTo(end)
  const session = openSession({
    names,
    snapshot: {
      ask: snapshot.ask,
      checkTime() {
        snapshot.checkTime()
        if (performance.now() > latest) throw READ_LIMIT_EXCEEDED
      },
    },
    coverage,
    bounds: { from: covered[0]!.from, to: covered.at(-1)!.to },
    filter: undefined,
    timesOf: () => [],
    chunksAtOnce: CHUNKS_AT_ONCE,
  })
  const filters = [tally.shared, ...tally.own.values()].flatMap((where) => indexFilter(where) ?? [])
  const joined = createFigures(figures)
  const slices = createTimeSlices()
  const { cache } = coverage
  const waiting = session.parts.flatMap((part) => coveredPart(part, covered) ?? [])
  const join = ({ start }: CoveredPart, counts: FigureCounts): Promise<void> =>
    slices.finish(joinFigures(joined, numberedFrom(start, counts)))
  let named = { query: figures, name: nameOf(figures) }
  for (let max = FIRST_EVENTS; waiting.length > 0;) {
    if (joined.facets.size < named.query.facets.length) {
      const left = { ...figures, facets: [...joined.facets.keys()] }
      named = { query: left, name: nameOf(left) }
    }
    const { query, name } = named
    const known = cache.figures(keyOf(waiting[0]!, name))
    if (known) {
      await join(waiting.shift()!, known)
      continue
    }
    const parts = takeParts(waiting, max / (1 + query.facets.length + filters.length))
    max = MAX_EVENTS
    const found = await session.tasks.all(
      parts.map((one) => () => {
        prefetchPart(one, query, filters)
        return countPart(one, query, (counts) => cache.keepFigures(keyOf(one, name), counts))
      }),
    )
    session.release()
    for (const [i, counts] of found.entries()) {
      if (!counts) return undefined
      await join(parts[i]!, counts)
    }
  }
  return joined
}

/** A part, and the ranges to be counted in it. */
interface CoveredPart {
  readonly part: IndexPart
  /** Cut to the times of the part. */
  readonly ranges: readonly TimeBounds[]
  /** The number of the first of them among all ranges. */
  readonly start: number
}

/** `covered` is in order of time. `undefined` if the part has no event in it. */
function coveredPart(part: IndexPart, covered: readonly Slice[]): CoveredPart | undefined {
  const start = covered.findIndex(({ to }) => to >= part.first)
  if (start < 0) return undefined
  const ranges = covered
    .slice(start)
    .filter(({ from }) => from <= part.last)
    .map(({ from, to }) => ({ from: Math.max(from, part.first), to: Math.min(to, part.last) }))
  return ranges.length > 0 ? { part, ranges, start } : undefined
}

/** A short name of the count; a filter may have very many values. */
const nameOf = ({ shared, own, facets }: FigureQuery): string =>
  createHash('sha256')
    .update(JSON.stringify([shared, [...own], facets]))
    .digest('base64')

/** Names all that the counts of a part depend on. */
const keyOf = ({ part, ranges }: CoveredPart, query: string): string =>
  `${part.id} ${query} ${ranges.map(({ from, to }) => `${from}-${to}`).join()}`

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

function prefetchPart(
  { part, ranges }: CoveredPart,
  { facets }: FigureQuery,
  filters: readonly IndexFilter[],
): void {
  prefetchCounts(part, ['type', ...facets], ranges)
  for (const filter of filters) prefetch(part, filter, () => [])
}

/** Counts the part by itself, as the task may start again. */
function* countPart(
  { part, ranges }: CoveredPart,
  query: FigureQuery,
  keep: (counts: FigureCounts) => void,
): Work<FigureCounts | undefined> {
  const counts = createFigures(query)
  if (!(yield* addFigures(counts, part, ranges, NONE_REMOVED))) return undefined
  const { levels, levelsOf, facets } = counts
  // Without the query, whose filter may be large.
  const kept = { levels, levelsOf, facets }
  keep(kept)
  return kept
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

const NONE_REMOVED = new Uint32Array(0)
