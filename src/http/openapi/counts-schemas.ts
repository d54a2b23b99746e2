import { LEVELS } from '../../event/level.js'
import { count, flag, links, listOf, object, ref, text, closedObject } from './shapes.js'

const time = { type: 'string', format: 'date-time' } as const

const levels = {
  ...object(Object.fromEntries(LEVELS.map((level) => [level, count])), []),
  description: 'Counts by the first part of the event type; levels that do not occur are omitted.',
}

const buckets = {
  ...closedObject({
    width: {
      type: 'number',
      description:
        'Width of a bucket in seconds; days and months in the time zone may be longer or shorter.',
    },
    zone: text,
    buckets: listOf(closedObject({ from: time, to: time, total: count, levels })),
  }),
  description: 'Counts by time, oldest bucket first, without gaps; `to` is exclusive.',
}

const values = listOf(closedObject({ value: { type: ['string', 'number', 'boolean'] }, count }))

const facet = closedObject({
  values: { ...values, description: 'Most frequent first.' },
  distinct: { ...count, description: 'Number of distinct values.' },
  missing: { ...count, description: 'Number of events without a value.' },
  sampled: {
    ...flag,
    description: 'True if these figures are estimates from a sample, even if the total is exact.',
  },
})

const attribute = closedObject({
  name: { ...text, description: 'The name as used in filters.' },
  types: listOf({ enum: ['string', 'number', 'boolean', 'null'] }),
  count,
  values,
})

/** The schema of `GET <path>/counts`. */
export const countsSchemas = {
  Counts: closedObject({
    jsonapi: ref('JsonApi'),
    meta: object(
      {
        total: count,
        levels,
        buckets,
        facets: { type: 'object', additionalProperties: facet },
        attributes: { ...listOf(attribute), description: 'Most frequent first.' },
        sampled: {
          ...flag,
          description:
            'True if the total, levels, buckets and attributes are estimates from a sample of the time range.',
        },
        counted: { ...count, description: 'Number of matching events that were actually counted.' },
        took_ms: { type: 'number', minimum: 0 },
      },
      ['total', 'levels', 'facets', 'sampled', 'counted', 'took_ms'],
    ),
    links: links('self'),
  }),
}
