import { LEVELS } from '../../event/level.js'
import { count, flag, links, listOf, object, ref, text, closedObject } from './shapes.js'

const time = { type: 'string', format: 'date-time' } as const

const levels = {
  ...object(Object.fromEntries(LEVELS.map((level) => [level, count])), []),
  description: 'By the first part of the types; levels that do not occur are left out.',
}

const buckets = {
  ...closedObject({
    width: {
      type: 'number',
      description:
        'Of one stretch, in seconds; days and months of the zone may be longer or shorter.',
    },
    zone: text,
    buckets: listOf(closedObject({ from: time, to: time, total: count, levels })),
  }),
  description: 'By stretches of time, oldest first, without gaps; `to` is not included.',
}

const values = listOf(closedObject({ value: { type: ['string', 'number', 'boolean'] }, count }))

const facet = closedObject({
  values: { ...values, description: 'The most frequent first.' },
  distinct: { ...count, description: 'How many different values there are.' },
  missing: { ...count, description: 'Events that have none.' },
})

const attribute = closedObject({
  name: { ...text, description: 'As filters name it.' },
  types: listOf({ enum: ['string', 'number', 'boolean', 'null'] }),
  count,
  values,
})

/** What `GET <path>/counts` gives. */
export const countsSchemas = {
  Counts: closedObject({
    jsonapi: ref('JsonApi'),
    meta: object(
      {
        total: count,
        levels,
        buckets,
        facets: { type: 'object', additionalProperties: facet },
        attributes: { ...listOf(attribute), description: 'The most frequent first.' },
        sampled: {
          ...flag,
          description:
            'True where the figures are estimates, from a sample of all stretches of time.',
        },
        counted: { ...count, description: 'Matching events that have really been counted.' },
        took_ms: { type: 'number', minimum: 0 },
      },
      ['total', 'levels', 'facets', 'sampled', 'counted', 'took_ms'],
    ),
    links: links('self'),
  }),
}
