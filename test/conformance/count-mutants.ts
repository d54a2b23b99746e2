import type { CountsQuery, EventCounts } from 'daybook'
import type { Mutant, Mutants } from './model-store.js'

/** Asks for something else. */
const asking =
  (change: (query: CountsQuery) => CountsQuery): Mutant['mutate'] =>
  (store) => ({ count: (query, options) => store.count(change(query), options) })

/** Answers something else. */
const answering =
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

export const countMutants: Mutants = {
  count: {
    'counts all': { mutate: asking((query) => ({ ...query, where: undefined })) },
    'shows what is not visible': { mutate: asking((query) => ({ ...query, visible: undefined })) },
    'takes what is visible for a part of the query': {
      mutate: asking((query) => ({
        ...query,
        where: query.where ?? query.visible,
        visible: undefined,
      })),
    },
    'has its buckets in UTC': {
      mutate: asking((query) => ({
        ...query,
        buckets: query.buckets && { ...query.buckets, zone: 'UTC' },
      })),
    },
    'has finer buckets': {
      mutate: asking((query) => ({
        ...query,
        buckets: query.buckets && { ...query.buckets, count: 2 * query.buckets.count },
      })),
    },
    'leaves out empty buckets': {
      mutate: answering((counts) => ({
        ...counts,
        buckets: counts.buckets && {
          ...counts.buckets,
          buckets: counts.buckets.buckets.filter(({ total }) => total > 0),
        },
      })),
    },
    'counts facets with their own conditions': {
      mutate: asking((query) => {
        const { where } = query
        return { ...query, where: undefined, visible: where ?? query.visible }
      }),
    },
    'gives values as text': {
      mutate: answering((counts) =>
        withFacets(counts, (facet) => ({
          ...facet,
          values: facet.values.map(({ value, count }) => ({
            value: JSON.stringify(value),
            count,
          })),
        })),
      ),
    },
    'gives equally frequent values in another order': {
      mutate: answering((counts) =>
        withFacets(counts, (facet) => ({
          ...facet,
          values: facet.values.toReversed().toSorted((a, b) => b.count - a.count),
        })),
      ),
    },
    'tells how many values it gives': {
      mutate: answering((counts) =>
        withFacets(counts, (facet) => ({ ...facet, distinct: facet.values.length })),
      ),
    },
    'forgets the events without a value': {
      mutate: answering((counts) => withFacets(counts, (facet) => ({ ...facet, missing: 0 }))),
    },
    'does not tell that it samples': {
      mutate: answering((counts) => ({ ...counts, sampled: false })),
    },
    'does not count the open ones': {
      mutate: (store) => ({
        async count(query, options) {
          const counts = await store.count(query, options)
          const { length } = await store.openEvents()
          return { ...counts, total: Math.max(0, counts.total - length) }
        },
      }),
    },
    'goes on for as long as it likes': {
      mutate: asking((query) => ({ ...query, within: 60_000 })),
    },
    'ignores the signal': { mutate: (store) => ({ count: (query) => store.count(query) }) },
  },
}
