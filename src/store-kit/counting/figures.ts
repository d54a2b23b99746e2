import { formatTimestamp } from '../../event/timestamp.js'
import type {
  Bucket,
  Buckets,
  CountsQuery,
  EventCounts,
  Facet,
  LevelCounts,
} from '../../store/counts.js'
import type { Steps } from '../../filter/steps.js'
import type { FacetTally } from './facet-tally.js'
import type { SeenAttributes } from './seen-attributes.js'
import { type Cell, durationOf } from './slices.js'
import type { Strata } from './strata.js'
import type { TimeBuckets } from '../../store/time-buckets.js'

/** The numbers of a tally so far. */
export interface Tallied {
  readonly query: Pick<CountsQuery, 'facets' | 'top'>
  readonly buckets: TimeBuckets | undefined
  readonly cells: readonly Cell[]
  /** The counted duration of each cell. */
  readonly seen: readonly number[]
  /** The events that pass the whole filter. */
  readonly main: CountedEvents
  /** By facet: the events that pass the filter without the facet's own conditions. */
  readonly populations: ReadonlyMap<string, CountedEvents>
  /** By facet, without `level`. */
  readonly tallies: ReadonlyMap<string, FacetTally>
  readonly attributes: SeenAttributes | undefined
}

interface CountedEvents {
  readonly strata: Strata
}

const isWhole = ({ cells, seen }: Pick<Tallied, 'cells' | 'seen'>): boolean =>
  cells.every((cell, i) => seen[i]! >= durationOf(cell))

/**
 * The figures of the events that were added. `hasValues` says whether the values of facets and the attributes were
 * added with each of them.
 */
export function* figuresOf(
  tallied: Tallied,
  hasValues: boolean,
): Steps<Omit<EventCounts, 'took_ms'>> {
  const { query, buckets, main, populations, tallies, attributes } = tallied
  const exact = isWhole(tallied)
  const facets: [name: string, facet: Facet][] = []
  for (const name of query.facets) {
    const { strata } = populations.get(name) ?? main
    const facet = tallies.get(name)?.facet(query.top, exact && hasValues)
    facets.push([name, facet ?? levelFacet(strata.levels(), query.top, exact)])
    yield
  }
  return {
    total: main.strata.total(),
    levels: main.strata.levels(),
    buckets: buckets && bucketCounts(buckets, tallied),
    facets: Object.fromEntries(facets),
    attributes: attributes && (yield* attributes.top()),
    exact: {
      total: exact,
      levels: exact,
      buckets: exact || !buckets,
      attributes: (exact && hasValues) || !attributes,
    },
  }
}

const sumOf = (counts: LevelCounts): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0)

function levelFacet(levels: LevelCounts, top: number, exact: boolean): Facet {
  const values = Object.entries(levels)
    .map(([value, count]) => ({ value, count }))
    .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
  return { values: values.slice(0, top), distinct: values.length, missing: 0, exact }
}

function bucketCounts({ width, zone, edges }: TimeBuckets, tallied: Tallied): Buckets {
  const { cells, seen, main } = tallied
  if (isWhole(tallied) && main.strata.total() === 0) return { width, zone, buckets: [] }
  const all = edges.map(() => 0)
  const counted = edges.map(() => 0)
  for (const [i, cell] of cells.entries()) {
    all[cell.bucket]! += durationOf(cell)
    counted[cell.bucket]! += seen[i]!
  }
  const strata = main.strata.regrouped(edges.length, (cell) => cells[cell]!.bucket)
  const buckets = edges.slice(0, -1).map((from, i): Bucket => {
    const levels = strata.levelsOf(i)
    const isPart = counted[i]! < all[i]!
    return {
      from: formatTimestamp(from),
      to: formatTimestamp(edges[i + 1]!),
      total: sumOf(levels),
      levels,
      ...(isPart && { share: counted[i]! / all[i]! }),
    }
  })
  return { width, zone, buckets }
}
