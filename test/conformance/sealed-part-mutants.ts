import type { AuditEvent, EventStore } from 'daybook'
import { sealedParts } from '../../src/event/personal.js'
import { compileFilter } from '../../src/filter/evaluate.js'
import type { Mutants } from './model-store.js'

/** An event whose ciphertexts are ordinary texts. */
const withPlainData = (event: AuditEvent): AuditEvent => {
  const parts = sealedParts(event.attributes)
  return parts
    ? { ...event, attributes: { ...event.attributes, personal: [...parts, {}] as never } }
    : event
}

const countless =
  (change: (counts: Awaited<ReturnType<EventStore['count']>>) => object) =>
  (store: EventStore): Partial<EventStore> => ({
    async count(query, options) {
      const counts = await store.count(query, options)
      return { ...counts, ...change(counts) }
    },
  })

export const sealedPartMutants: Mutants = {
  'sealed parts: queries': {
    'tests ciphertexts': {
      mutate: (store) => ({
        async list(query, options) {
          const all = await store.list({ ...query, where: undefined }, options)
          const matches = compileFilter(query.where)
          return { ...all, events: all.events.filter((event) => matches(withPlainData(event))) }
        },
      }),
    },
  },
  'sealed parts: the stored event': {
    'removes the ciphertexts': {
      mutate: (store) => ({
        async list(query, options) {
          const { events, ...page } = await store.list(query, options)
          const change = (event: AuditEvent): AuditEvent => {
            const parts = sealedParts(event.attributes)
            if (!parts) return event
            const personal = parts.map(({ subject }) => ({ subject }))
            return { ...event, attributes: { ...event.attributes, personal } }
          }
          return { ...page, events: events.map(change) }
        },
      }),
    },
  },
  'sealed parts: facets': {
    'lists the name of ciphertexts for each sealed event': {
      mutate: countless(({ attributes }) => ({
        attributes: attributes?.map((one) =>
          one.name === 'personal_data' ? { ...one, count: one.count + 2 } : one,
        ),
      })),
    },
    'has ciphertexts in a facet': {
      mutate: countless(({ facets }) => ({
        facets: {
          ...facets,
          personal_data: {
            ...facets['personal_data'],
            values: [
              ...(facets['personal_data']?.values ?? []),
              { value: 'alpha-'.repeat(8), count: 1 },
            ],
          },
        },
      })),
    },
  },
}
