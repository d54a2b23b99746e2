import { closedObject, count, flag, links, listOf, object, ref, text } from './shapes.js'

const number = { type: 'number' } as const
const numberOrNull = {
  type: ['number', 'null'],
  description: 'An end of the 95 % confidence interval; null if the numbers read do not bound it.',
} as const

const percentile = closedObject({ value: number, low: numberOrNull, high: numberOrNull })

const numbers = closedObject({
  exact: { ...flag, description: 'True if the percentiles are of all numbers of the group.' },
  read: { ...count, description: 'Number of values that the percentiles are computed from.' },
  p50: percentile,
  p95: percentile,
  p99: percentile,
})

const group = object(
  {
    values: {
      ...listOf({ type: ['string', 'number', 'boolean', 'null'] }),
      description: 'One value for each attribute of `by`; null for events without a value.',
    },
    count,
    exact: { ...flag, description: 'True if the count is exact, false if it is an estimate.' },
    error: {
      ...count,
      description: 'Half of the 95 % confidence interval of the count; 0 if it is exact.',
    },
    buckets: { ...listOf(count), description: 'Events in each bucket.' },
    numbers: {
      type: 'object',
      additionalProperties: numbers,
      description: 'Percentiles by attribute.',
    },
  },
  ['values', 'count', 'exact', 'error', 'numbers'],
)

/** The schema of `GET <path>/groups`. */
export const groupsSchemas = {
  Groups: closedObject({
    jsonapi: ref('JsonApi'),
    meta: object(
      {
        by: listOf(text),
        groups: { ...listOf(group), description: 'Most frequent first.' },
        distinct: {
          ...count,
          description: 'Number of groups; at least this many unless `exact.groups`.',
        },
        total: { ...count, description: 'Number of matching events.' },
        exact: closedObject({
          total: { ...flag, description: 'True if `total` is exact.' },
          groups: {
            ...flag,
            description: 'True if no group is missing and each count is exact.',
          },
        }),
        read: { ...count, description: 'Number of matching events that were read.' },
        buckets: {
          ...closedObject({
            width: number,
            zone: text,
            edges: listOf({ type: 'string', format: 'date-time' }),
          }),
          description:
            'The buckets of the groups: bucket i begins at edge i and ends before edge i + 1.',
        },
        took_ms: { type: 'number', minimum: 0 },
      },
      ['by', 'groups', 'distinct', 'total', 'exact', 'read', 'took_ms'],
    ),
    links: links('self'),
  }),
}
