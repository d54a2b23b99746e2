import { formatTimestamp } from '../../event/timestamp.js'
import type { Buckets, CountsQuery, EventCounts, Facet, LevelCounts } from '../../store/counts.js'
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

/** Scales the numbers of each cell from its counted duration to its whole duration. */
export function* estimateCounts(tallied: Tallied): Steps<Omit<EventCounts, 'took_ms'>> {
  const { query, buckets, cells, seen, main, populations, tallies, attributes } = tallied
  const factors = cells.map((cell, i) => durationOf(cell) / Math.max(1, seen[i]!))
  const sampled = cells.some((cell, i) => seen[i]! < durationOf(cell))
  const groups = Math.max(1, (buckets?.edges.length ?? 0) - 1)
  const scaledOf = ({ strata }: CountedEvents): Strata =>
    strata.scaled(groups, (cell) => cells[cell]!.bucket, factors)
  const scaleOf = (one: CountedEvents): ((count: number) => number) => {
    const factor = scaledOf(one).total() / Math.max(1, one.strata.total())
    return (count) => Math.round(count * factor)
  }
  const facetOf = (name: string): Facet => {
    const one = populations.get(name) ?? main
    return (
      tallies.get(name)?.facet(query.top, scaleOf(one), sampled) ??
      levelFacet(scaledOf(one).levels(), query.top, sampled)
    )
  }
  const facets: [name: string, facet: Facet][] = []
  for (const name of query.facets) {
    facets.push([name, facetOf(name)])
    yield
  }
  const all = scaledOf(main)
  return {
    total: all.total(),
    levels: all.levels(),
    buckets: buckets && bucketCounts(buckets, all),
    facets: Object.fromEntries(facets),
    attributes: attributes && (yield* attributes.top(scaleOf(main))),
    sampled,
    counted: main.strata.total(),
  }
}

const sumOf = (counts: LevelCounts): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0)

function levelFacet(levels: LevelCounts, top: number, sampled: boolean): Facet {
  const values = Object.entries(levels)
    .map(([value, count]) => ({ value, count }))
    .toSorted((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1))
  return { values: values.slice(0, top), distinct: values.length, missing: 0, sampled }
}

function bucketCounts({ width, zone, edges }: TimeBuckets, strata: Strata): Buckets {
  const hasSome = strata.total() > 0
  const buckets = edges.slice(0, hasSome ? -1 : 0).map((from, i) => {
    const levels = strata.levelsOf(i)
    return {
      from: formatTimestamp(from),
      to: formatTimestamp(edges[i + 1]!),
      total: sumOf(levels),
      levels,
    }
  })
  return { width, zone, buckets }
}
