import type { EventQuery } from '../../../src/filter/ast.js'
import { MAX_LIMIT } from '../../../src/filter/ast.js'
import { formatQuery } from '../../../src/filter/format.js'
import type { CountOptions } from '../../../src/store/counts.js'
import type { GroupOptions } from '../../../src/store/groups.js'

/* Query strings of requests to a feed. */

export const joined = (...parts: readonly (string | undefined)[]): string =>
  parts.filter(Boolean).join('&')

export const parameter = (name: string, value: string | number | boolean): string =>
  `${name}=${encodeURIComponent(value)}`

/** The parameters that are conditions. */
export const filterParameters = (where: EventQuery['where']): string =>
  formatQuery({ where, sorts: [], limit: MAX_LIMIT }).replace(/&?limit=\d+$/, '')

function bucketParameters(buckets: CountOptions['buckets']): string {
  if (!buckets) return parameter('buckets', 0)
  const { count = 96, zone } = buckets
  return joined(parameter('buckets', count), zone && parameter('zone', zone))
}

export const countParameters = ({ buckets, facets = [], top, attributes }: CountOptions): string =>
  joined(
    bucketParameters(buckets),
    ...facets.map((name) => parameter('facets[]', name)),
    top === undefined ? '' : parameter('top', top),
    attributes ? parameter('attributes', true) : '',
  )

export const groupParameters = ({ by, numbers = [], buckets, top }: GroupOptions): string =>
  joined(
    ...by.map((name) => parameter('by[]', name)),
    ...numbers.map((name) => parameter('numbers[]', name)),
    bucketParameters(buckets),
    top === undefined ? '' : parameter('top', top),
  )
