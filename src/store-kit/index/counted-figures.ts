import type { Steps } from '../../filter/steps.js'
import { createTimeSlices } from '../../filter/time-slices.js'
import type { CountsQuery, EventCounts } from '../../store/counts.js'
import type { Span } from '../counting/count-plan.js'
import type { Slice } from '../counting/slices.js'
import { createTally, type Tally } from '../counting/tally.js'
import { type ExactFilter, exactFilter, isIndexedName } from './exact-filter.js'
import type { FigureCounts, FigureQuery } from './figure-counts.js'

/** With fewer indexed events, reading the events takes as long. */
export const MIN_INDEXED = 32_768

/** The time at which a count gives up the index, so that half of the time is left. `end` is when all of it is over. */
export const halfwayTo = (end: number): number => (performance.now() + end) / 2

/** Returns the figures that an index has to count; `undefined` if it cannot have exactly the matching events. */
export function figureQuery(
  query: Pick<CountsQuery, 'facets'>,
  { shared, own }: Pick<Tally, 'shared' | 'own'>,
): FigureQuery | undefined {
  const everywhere = exactFilter(shared)
  if (!everywhere) return undefined
  const filters = new Map<string, ExactFilter>()
  for (const [facet, where] of own) {
    const filter = exactFilter(where)
    if (!filter) return undefined
    filters.set(facet, filter)
  }
  const facets = query.facets.filter((facet) => facet !== 'level' && isIndexedName(facet))
  return { shared: everywhere, own: filters, facets }
}

/** A count whose total, levels and buckets are counted first. */
export interface CountInParts {
  readonly query: CountsQuery
  readonly span: Span
  /** When the time of the query is over, as `performance.now()` counts. */
  readonly end: number
}

/** Adds events to a tally of a query. */
export type AddEvents = (tally: Tally, query: CountsQuery) => Promise<void>

const timeLeft = (end: number): number => Math.max(0, Math.round(end - performance.now()))

/**
 * Adds the counts of the index in the covered slices, and the `rest`, which it does not have. Counts the facets that
 * it could not count, and the attributes, by `others`, in the time that is left.
 */
export async function completeCounts(
  count: CountInParts,
  figures: FigureCounts,
  covered: readonly Slice[],
  { rest, others }: { readonly rest: AddEvents; readonly others: AddEvents },
): Promise<EventCounts> {
  const { query, span, end } = count
  const facets = query.facets.filter((facet) => facet === 'level' || figures.facets.has(facet))
  // Without the other facets, their conditions apply to all figures.
  const known = { ...query, facets, attributes: false, within: timeLeft(end) }
  const tally = createTally(known, span)
  const slices = createTimeSlices()
  await slices.finish(addIndexed(tally, figures, covered, facets))
  await rest(tally, known)
  return countOthers(count, await slices.finish(tally.counts()), others)
}

/** Counts by `count` the facets that the counts lack, and the attributes, in the time that is left, and adds them. */
export async function countOthers(
  { query, span, end }: CountInParts,
  counts: EventCounts,
  count: AddEvents,
): Promise<EventCounts> {
  const facets = query.facets.filter((facet) => !Object.hasOwn(counts.facets, facet))
  const took_ms = (): number => Math.round(performance.now() - (end - query.within))
  if (facets.length === 0 && !query.attributes) return { ...counts, took_ms: took_ms() }
  const others = { ...query, facets, within: timeLeft(end) }
  const tally = createTally(others, span)
  await count(tally, others)
  const found = await createTimeSlices().finish(tally.counts())
  const all = { ...counts.facets, ...found.facets }
  return {
    ...counts,
    facets: Object.fromEntries(query.facets.map((facet) => [facet, all[facet]!])),
    attributes: found.attributes,
    exact: { ...counts.exact, attributes: found.exact.attributes },
    took_ms: took_ms(),
  }
}

/** The part of a query whose figures need only the types of the matching events. */
export const withoutValues = (query: CountsQuery): CountsQuery => ({
  ...query,
  facets: query.facets.filter((facet) => facet === 'level'),
  attributes: false,
})

/** Adds what an index has counted in the covered slices to a tally that has only facets which the counts have. */
function* addIndexed(
  tally: Tally,
  { levels, levelsOf, facets }: FigureCounts,
  covered: readonly Slice[],
  wanted: readonly string[],
): Steps<void> {
  const cellOf = (range: number): Slice['cell'] => covered[range]!.cell
  for (const { range, type, count } of levels) tally.addLevel(cellOf(range), type, count)
  for (const facet of wanted) {
    yield
    const ofFacet = tally.own.has(facet) ? (levelsOf.get(facet) ?? []) : []
    for (const { range, type, count } of ofFacet) tally.addLevel(cellOf(range), type, count, facet)
    const found = facets.get(facet)
    if (found) yield* tally.addValues(facet, found.values, found.missing)
  }
}
