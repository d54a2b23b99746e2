import type { Steps } from '../../../src/filter/steps.js'
import type { Slice } from '../../../src/store-kit/counting/slices.js'
import type { Tally } from '../../../src/store-kit/counting/tally.js'
import {
  type ExactFilter,
  exactFilter,
  isIndexedName,
} from '../../../src/store-kit/index/exact-filter.js'
import {
  addFigures,
  createFigures,
  type FigureCounts,
  type FigureQuery,
} from '../../../src/store-kit/index/figure-counts.js'
import type { Work } from '../../../src/store-kit/index/find-postings.js'
import type { CountsQuery } from '../../../src/store/counts.js'
import { countIndexed, type IndexedCount, type IndexedParts } from './indexed-parts.js'

interface FiguresCount extends IndexedCount {
  readonly query: CountsQuery
  readonly tally: Pick<Tally, 'shared' | 'own'>
}

/** What the index has counted, and what it does not have. */
export interface IndexedFigures extends Omit<IndexedParts, 'parts'> {
  readonly counts: FigureCounts
}

/**
 * Counts the events of the segments that match, and the values of facets, without reading events. `undefined` if the
 * index cannot have exactly the events that match, or too few of all events, or if time is up. Leaves out facets that
 * have too many values, or values that the index does not have.
 */
export async function countFigures(count: FiguresCount): Promise<IndexedFigures | undefined> {
  const query = figureQuery(count)
  return query && countIndexed(count, (parts) => countParts(query, parts))
}

function figureQuery({ query, tally: { shared, own } }: FiguresCount): FigureQuery | undefined {
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

function* countParts(
  query: FigureQuery,
  { parts, covered, ...others }: IndexedParts,
): Work<IndexedFigures | undefined> {
  const counts = createFigures(query)
  for (const { part, removed } of parts) {
    if (!(yield* addFigures(counts, part, covered, removed))) return undefined
    yield
  }
  return { counts, covered, ...others }
}

/** Adds what the index has counted to a tally that has only facets which it has. */
export function* addIndexed(
  tally: Tally,
  { counts: { levels, levelsOf, facets }, covered }: IndexedFigures,
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
