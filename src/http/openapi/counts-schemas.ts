import { LEVELS } from '../../event/level.js'
import { count, flag, listOf, queryLinks, object, ref, text, closedObject } from './shapes.js'

const time = { type: 'string', format: 'date-time' } as const

const levels = {
  ...object(Object.fromEntries(LEVELS.map((level) => [level, count])), []),
  description: 'Counts by the first part of the event type; levels that do not occur are omitted.',
}

const share = {
  type: 'number',
  minimum: 0,
  maximum: 1,
  description: 'How much of the time of the bucket was counted; omitted if all of it was.',
} as const

const buckets = {
  ...closedObject({
    width: {
      type: 'number',
      description:
        'Width of a bucket in seconds; days and months in the time zone may be longer or shorter.',
    },
    zone: text,
    buckets: listOf(
      object({ from: time, to: time, total: count, levels, share }, [
        'from',
        'to',
        'total',
        'levels',
      ]),
    ),
  }),
  description: 'Counts by time, oldest bucket first, without gaps; `to` is exclusive.',
}

const values = listOf(closedObject({ value: { type: ['string', 'number', 'boolean'] }, count }))

const facet = closedObject({
  values: { ...values, description: 'Most frequent first.' },
  distinct: { ...count, description: 'Number of distinct values.' },
  missing: { ...count, description: 'Number of events without a value.' },
  exact: {
    ...flag,
    description: 'False if these figures are lower bounds, even if the total is exact.',
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
        exact: {
          ...closedObject({ total: flag, levels: flag, buckets: flag, attributes: flag }),
          description: 'Which figures are exact; each number of the others is a lower bound.',
        },
        took_ms: { type: 'number', minimum: 0 },
      },
      ['total', 'levels', 'facets', 'exact', 'took_ms'],
    ),
    links: queryLinks('self'),
  }),
}
