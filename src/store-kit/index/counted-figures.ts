import type { Steps } from '../../filter/steps.js'
import type { CountsQuery } from '../../store/counts.js'
import type { Slice } from '../counting/slices.js'
import type { Tally } from '../counting/tally.js'
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

/** The part of a query whose figures need only the types of the matching events. */
export const withoutValues = (query: CountsQuery): CountsQuery => ({
  ...query,
  facets: query.facets.filter((facet) => facet === 'level'),
  attributes: false,
})

/** Adds what an index has counted in the covered slices to a tally that has only facets which the counts have. */
export function* addIndexed(
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
