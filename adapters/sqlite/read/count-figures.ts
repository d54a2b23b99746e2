import type { Tally } from '../../../src/store-kit/counting/tally.js'
import { figureQuery } from '../../../src/store-kit/index/counted-figures.js'
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
  const query = figureQuery(count.query, count.tally)
  return query && countIndexed(count, (parts) => countParts(query, parts))
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
