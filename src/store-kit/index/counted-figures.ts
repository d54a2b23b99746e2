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

/** What an index has to count; `undefined` if it cannot have exactly the events that match. */
export function figureQuery(
  query: Pick<CountsQuery, 'attributes' | 'facets'>,
  { shared, own }: Pick<Tally, 'shared' | 'own'>,
): FigureQuery | undefined {
  if (query.attributes) return undefined
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

/** A count for which an index has counted figures. */
interface IndexedCount {
  readonly query: CountsQuery
  readonly span: Span
  /** The tally of the query. Nothing was added to it. */
  readonly tally: Tally
  /** When the time of the query is over, as `performance.now()` counts. */
  readonly end: number
}

/** Adds events to a tally of a query. */
type AddEvents = (tally: Tally, query: CountsQuery) => Promise<void>

/**
 * Adds what the index has counted in the covered slices, and the `rest`, which it does not have. Counts the facets that
 * it could not count from `sample`, in the time that is left.
 */
export async function completeCounts(
  { query, span, tally, end }: IndexedCount,
  figures: FigureCounts,
  covered: readonly Slice[],
  { rest, sample }: { readonly rest: AddEvents; readonly sample: AddEvents },
): Promise<EventCounts> {
  const has = (facet: string): boolean => facet === 'level' || figures.facets.has(facet)
  const known = { ...query, facets: query.facets.filter(has) }
  const others = query.facets.filter((facet) => !has(facet))
  // Without the other facets, their conditions apply to all figures.
  const exact = others.length > 0 ? createTally(known, span) : tally
  const slices = createTimeSlices()
  await slices.finish(addIndexed(exact, figures, covered, known.facets))
  await rest(exact, known)
  const counts = await slices.finish(exact.counts())
  if (others.length === 0) return counts
  const within = Math.max(0, Math.round(end - performance.now()))
  const unknown = { ...query, facets: others, buckets: undefined, within }
  const sampled = createTally(unknown, span)
  await sample(sampled, unknown)
  const all = { ...counts.facets, ...(await slices.finish(sampled.counts())).facets }
  return {
    ...counts,
    facets: Object.fromEntries(query.facets.map((facet) => [facet, all[facet]!])),
    took_ms: Math.round(performance.now() - (end - query.within)),
  }
}

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
