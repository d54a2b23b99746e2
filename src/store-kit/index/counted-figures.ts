import type { Steps } from '../../filter/steps.js'
import type { CountsQuery } from '../../store/counts.js'
import type { Slice } from '../counting/slices.js'
import type { Tally } from '../counting/tally.js'
import { type ExactFilter, exactFilter, isIndexedName } from './exact-filter.js'
import type { FigureCounts, FigureQuery } from './figure-counts.js'

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
