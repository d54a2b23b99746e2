import type { CountsQuery, EventCounts } from 'daybook'
import type { Mutant, Mutants } from './model-store.js'

/** Alters the query. */
const withQuery =
  (change: (query: CountsQuery) => CountsQuery): Mutant['mutate'] =>
  (store) => ({ count: (query, options) => store.count(change(query), options) })

/** Alters the counts. */
const withCounts =
  (change: (counts: EventCounts) => EventCounts): Mutant['mutate'] =>
  (store) => ({
    count: async (query, options) => change(await store.count(query, options)),
  })

const withFacets = (
  counts: EventCounts,
  change: (facet: EventCounts['facets'][string]) => EventCounts['facets'][string],
): EventCounts => ({
  ...counts,
  facets: Object.fromEntries(
    Object.entries(counts.facets).map(([name, facet]) => [name, change(facet)]),
  ),
})

const EXACT = { total: true, levels: true, buckets: true, attributes: true }

export const countMutants: Mutants = {
  count: {
    'ignores the filter': { mutate: withQuery((query) => ({ ...query, where: undefined })) },
    'ignores `visible`': { mutate: withQuery((query) => ({ ...query, visible: undefined })) },
    'treats `visible` as the filter': {
      mutate: withQuery((query) => ({
        ...query,
        where: query.where ?? query.visible,
        visible: undefined,
      })),
    },
    'aligns buckets to UTC': {
      mutate: withQuery((query) => ({
        ...query,
        buckets: query.buckets && { ...query.buckets, zone: 'UTC' },
      })),
    },
    'returns too many buckets': {
      mutate: withQuery((query) => ({
        ...query,
        buckets: query.buckets && { ...query.buckets, count: 2 * query.buckets.count },
      })),
    },
    'leaves out empty buckets': {
      mutate: withCounts((counts) => ({
        ...counts,
        buckets: counts.buckets && {
          ...counts.buckets,
          buckets: counts.buckets.buckets.filter(({ total }) => total > 0),
        },
      })),
    },
    'counts facets with their own conditions': {
      mutate: withQuery((query) => {
        const { where } = query
        return { ...query, where: undefined, visible: where ?? query.visible }
      }),
    },
    'returns values as text': {
      mutate: withCounts((counts) =>
        withFacets(counts, (facet) => ({
          ...facet,
          values: facet.values.map(({ value, count }) => ({
            value: JSON.stringify(value),
            count,
          })),
        })),
      ),
    },
    'reverses the order of equally frequent values': {
      mutate: withCounts((counts) =>
        withFacets(counts, (facet) => ({
          ...facet,
          values: facet.values.toReversed().toSorted((a, b) => b.count - a.count),
        })),
      ),
    },
    'reports the number of returned values as distinct': {
      mutate: withCounts((counts) =>
        withFacets(counts, (facet) => ({ ...facet, distinct: facet.values.length })),
      ),
    },
    'ignores events without a value': {
      mutate: withCounts((counts) => withFacets(counts, (facet) => ({ ...facet, missing: 0 }))),
    },
    'reports that lower bounds are exact': {
      mutate: withCounts((counts) => ({ ...counts, exact: EXACT })),
    },
    'reports that lower bounds of a facet are exact': {
      mutate: withCounts((counts) => withFacets(counts, (facet) => ({ ...facet, exact: true }))),
    },
    'does not tell how much of a bucket was counted': {
      mutate: withCounts((counts) => ({
        ...counts,
        buckets: counts.buckets && {
          ...counts.buckets,
          buckets: counts.buckets.buckets.map(({ from, to, total, levels }) => ({
            from,
            to,
            total,
            levels,
          })),
        },
      })),
    },
    'does not count open events': {
      mutate: (store) => ({
        async count(query, options) {
          const counts = await store.count(query, options)
          const { length } = await store.openEvents()
          return { ...counts, total: Math.max(0, counts.total - length) }
        },
      }),
    },
    'ignores the time limit': {
      mutate: withQuery((query) => ({ ...query, within: 60_000 })),
    },
    'ignores the signal': { mutate: (store) => ({ count: (query) => store.count(query) }) },
  },
}
