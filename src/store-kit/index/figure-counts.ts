import type { Scalar } from '../../filter/attributes.js'
import type { TimeBounds } from '../../filter/bounds.js'
import { type Level, levelOf } from '../../event/level.js'
import {
  addRange,
  type BitSet,
  countCommon,
  emptySet,
  intersect,
  removeOrdinals,
  sizeOfSet,
} from './bit-set.js'
import type { ExactFilter } from './exact-filter.js'
import { exactMatches } from './exact-matches.js'
import { allEntries } from './find-postings.js'
import { type FetchedPart, mayBeCut } from './part.js'
import { addToSet, countInSet } from './postings.js'
import { readAll, readOne, WAIT, type Work } from './work.js'

/** Figures to count. */
export interface FigureQuery {
  /** Applies to every figure. */
  readonly shared: ExactFilter
  /** By facet: applies to every figure except the facet's own. */
  readonly own: ReadonlyMap<string, ExactFilter>
  /** The attributes whose values to count, without `level`. */
  readonly facets: readonly string[]
}

/** The values of one attribute. */
interface CountedValues {
  /** For each value the number of events that have it. */
  readonly values: ReadonlyMap<Scalar, number>
  /** Number of events without a value. */
  readonly missing: number
}

/** The events of one range and level. */
export interface CountedLevel {
  /** The number of the range. */
  readonly range: number
  /** The type of one of them. */
  readonly type: string
  readonly count: number
}

/** The counts of some parts. */
export interface FigureCounts {
  /** The events that match. */
  readonly levels: readonly CountedLevel[]
  /** By facet with an own filter: the events that match without it. */
  readonly levelsOf: ReadonlyMap<string, readonly CountedLevel[]>
  /** By facet; without facets whose values an index does not have, and facets with too many values. */
  readonly facets: ReadonlyMap<string, CountedValues>
}

/** Counts that grow part by part. */
interface GrowingFigures extends FigureCounts {
  readonly query: FigureQuery
  readonly levels: CountedLevel[]
  readonly levelsOf: ReadonlyMap<string, CountedLevel[]>
  readonly facets: Map<string, GrowingValues>
}

/** With more distinct values, a facet is not counted. */
const MAX_VALUES = 10_000
/** Maximum number of characters of text that a facet keeps. */
const MAX_CHARACTERS = 4_000_000
/** The same in ordinals that are read between two points where the work may pause. Reading a list takes as long as some. */
const MAX_UNITS = 16_384
const LIST_UNITS = 4000

/** A range of ordinals; `to` is exclusive. */
interface Span {
  readonly range: number
  readonly from: number
  readonly to: number
}

/** The events of a part that one figure counts. */
interface Population {
  readonly set: BitSet
  readonly size: number
  /** True if these are all events of the part. */
  readonly isWhole: boolean
  readonly levels: CountedLevel[]
}

interface GrowingValues extends CountedValues {
  readonly values: Map<Scalar, number>
  /** Length of all texts. */
  characters: number
  missing: number
}

export const createFigures = (query: FigureQuery): GrowingFigures => ({
  query,
  levels: [],
  levelsOf: new Map([...query.own.keys()].map((facet) => [facet, []])),
  facets: new Map(query.facets.map((facet) => [facet, noValues()])),
})

const noValues = (): GrowingValues => ({ values: new Map(), characters: 0, missing: 0 })

/** The events of a part that each figure counts: the main ones, without a name, and those of facets with own filters. */
type Populations = ReadonlyMap<string | undefined, Population>

/**
 * Adds the levels and facets of the events of the part that are within the ranges, which do not overlap, without the
 * `removed` ordinals. Drops facets of which the part does not have all values, or too many. False if the part does not have
 * exactly the events that match; then the counts cannot be used.
 */
export function* addFigures(
  figures: GrowingFigures,
  part: FetchedPart,
  ranges: readonly TimeBounds[],
  removed: ArrayLike<number>,
): Work<boolean> {
  const spans = yield* spansOf(part, ranges)
  if (spans.length === 0) return true
  const populations = yield* populationsOf(figures, part, spans, removed)
  if (!populations) return false
  const all = [...populations.values()]
  // Reading the values would be in vain.
  if (all.every(({ size }) => size === 0)) return true
  if (!(yield* addLevelsOf(part, spans, all))) return false
  for (const [facet, found] of figures.facets) {
    const population = populations.get(facet) ?? populations.get(undefined)!
    if (!(yield* addValues(part, facet, population, found))) figures.facets.delete(facet)
  }
  return true
}

function countValue(found: GrowingValues, value: Scalar, count: number): void {
  const before = found.values.get(value)
  found.values.set(value, (before ?? 0) + count)
  if (before === undefined && typeof value === 'string') found.characters += value.length
}

const hasTooMany = ({ values, characters }: GrowingValues): boolean =>
  values.size > MAX_VALUES || characters > MAX_CHARACTERS

/** Adds the counts of another part. Drops facets that it lacks, or that have too many values together. */
export function* joinFigures(figures: GrowingFigures, more: FigureCounts): Work<void> {
  for (const one of more.levels) figures.levels.push(one)
  for (const [facet, levels] of figures.levelsOf)
    for (const one of more.levelsOf.get(facet) ?? []) levels.push(one)
  for (const [facet, found] of figures.facets) {
    const counted = more.facets.get(facet)
    found.missing += counted?.missing ?? 0
    for (const [value, count] of counted?.values ?? []) countValue(found, value, count)
    if (!counted || hasTooMany(found)) figures.facets.delete(facet)
    yield
  }
}

function* populationsOf(
  { query: { shared, own }, levels, levelsOf }: GrowingFigures,
  part: FetchedPart,
  spans: readonly Span[],
  removed: ArrayLike<number>,
): Work<Populations | undefined> {
  const base = emptySet(part.size)
  for (const { from, to } of spans) addRange(base, from, to)
  removeOrdinals(base, removed)
  const matches = yield* exactMatches(part, shared)
  if (!matches) return undefined
  intersect(base, matches)
  const owned: (readonly [facet: string, matches: BitSet])[] = []
  for (const [facet, filter] of own) {
    const set = yield* exactMatches(part, filter)
    if (!set) return undefined
    owned.push([facet, set])
  }
  const populations = new Map<string | undefined, Population>()
  for (const [name, into] of [[undefined, levels] as const, ...levelsOf]) {
    const set = base.slice()
    for (const [facet, matching] of owned) if (facet !== name) intersect(set, matching)
    const size = sizeOfSet(set)
    populations.set(name, { set, size, isWhole: size === part.size, levels: into })
    yield
  }
  return populations
}

function* spansOf(part: FetchedPart, ranges: readonly TimeBounds[]): Work<Span[]> {
  const ends = ranges.flatMap(({ from, to }) => [from, to + 1])
  const counts = yield* readAll(ends.map((time) => () => part.countBefore(time)))
  return ranges
    .map((_, range) => ({ range, from: counts[2 * range]!, to: counts[2 * range + 1]! }))
    .filter(({ from, to }) => from < to)
}

/** Counts the levels of each range. False if the part does not have the type of each event. */
function* addLevelsOf(
  part: FetchedPart,
  spans: readonly Span[],
  populations: readonly Population[],
): Work<boolean> {
  const sets = new Map<Level, { readonly type: string; readonly set: BitSet }>()
  let units = 0
  for (const entry of allEntries(part, 'type')) {
    if (!entry) {
      yield entry
      continue
    }
    const type = String(entry.value)
    const level = levelOf(type)
    const found = sets.get(level) ?? { type, set: emptySet(part.size) }
    sets.set(level, found)
    const postings = entry.postings()
    while (addToSet(postings, found.set) === WAIT) yield WAIT
    units += LIST_UNITS + entry.size
    if (units < MAX_UNITS) continue
    yield
    units = 0
  }
  for (const { set, size, levels } of populations) {
    let left = size
    for (const { type, set: ofLevel } of sets.values())
      for (const { range, from, to } of spans) {
        const count = countCommon(set, ofLevel, from, to)
        if (count > 0) levels.push({ range, type, count })
        left -= count
      }
    if (left !== 0) return false
    yield
  }
  return true
}

/** False if the part does not have all values of the attribute, or if there are too many. */
function* addValues(
  part: FetchedPart,
  facet: string,
  { set, size, isWhole }: Population,
  found: GrowingValues,
): Work<boolean> {
  if ((yield* readOne(() => part.partial(facet))).size > 0) return false
  let read = 0
  let units = 0
  for (const entry of allEntries(part, facet)) {
    if (!entry) {
      yield entry
      continue
    }
    const { value } = entry
    if (mayBeCut(value) || ++read > MAX_VALUES) return false
    const postings = entry.postings()
    let count = isWhole ? entry.size : countInSet(postings, set)
    for (; count === WAIT; count = countInSet(postings, set)) yield WAIT
    if (count > 0) countValue(found, value, count)
    if (hasTooMany(found)) return false
    units += LIST_UNITS + (isWhole ? 0 : entry.size)
    if (units < MAX_UNITS) continue
    yield
    units = 0
  }
  const valued = yield* readOne(() => part.valued(facet))
  found.missing += size - (isWhole ? valued.size : yield* readOne(() => countInSet(valued, set)))
  yield
  return true
}
