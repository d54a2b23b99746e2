import { AuditLogError } from '../errors.js'
import { checkVisible, type QueryInput, toQuery } from '../filter/query-input.js'
import { checkOptions } from '../options.js'
import {
  BUCKETS_OPTIONS,
  type BucketsQuery,
  type CountOptions,
  type CountsQuery,
} from '../store/counts.js'
import { timeZone } from '../event/time-zone.js'

export const DEFAULT_BUCKETS = 96
export const DEFAULT_TOP = 5
export const DEFAULT_WITHIN_MS = 2000
export const MAX_WITHIN_MS = 60_000
export const MAX_BUCKETS = 1000
export const MAX_TOP = 1000
const MAX_FACETS = 20

/** An error that describes the allowed values of an option. */
export const optionFault = (parameter: string, message: string): AuditLogError =>
  new AuditLogError('INVALID_VALUE', `${parameter} ${message}`, { parameter })

export function readWhole(parameter: string, value: unknown, min: number, max: number): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max)
    return value
  throw optionFault(parameter, `must be a whole number from ${min} to ${max}`)
}

function flag(parameter: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw optionFault(parameter, 'must be true or false')
}

function readZone(zone: unknown): string {
  const isText = typeof zone === 'string'
  try {
    if (isText) return timeZone(zone).name
  } catch {
    // The error below names the zone.
  }
  const given = isText ? `${zone} is not` : `${typeof zone} was given`
  throw optionFault(
    'zone',
    `must be the name of an IANA time zone, such as Europe/Berlin: ${given}`,
  )
}

export function readBuckets(buckets: CountOptions['buckets']): BucketsQuery | undefined {
  if (buckets === undefined) return undefined
  if (buckets === null || typeof buckets !== 'object')
    throw optionFault('buckets', 'must be an object such as { count: 96, zone: "Europe/Berlin" }')
  checkOptions(buckets, BUCKETS_OPTIONS, 'buckets')
  const { count = DEFAULT_BUCKETS, zone = 'UTC' } = buckets
  return { count: readWhole('buckets', count, 1, MAX_BUCKETS), zone: readZone(zone) }
}

function readFacets(facets: readonly string[]): string[] {
  if (!Array.isArray(facets)) throw optionFault('facets', 'must be a list of names of attributes')
  const names = new Set(facets)
  if (names.size > MAX_FACETS) throw optionFault('facets', `must be at most ${MAX_FACETS}`)
  for (const name of names) {
    if (typeof name !== 'string' || name === '')
      throw optionFault('facets', 'must be names of attributes, or level')
    if (name === 'id' || name === 'created_at')
      throw optionFault('facets', `cannot have ${name}, whose values are all different`)
  }
  return [...names]
}

/**
 * The counts query for a call. Throws like `parseQuery`, and `INVALID_VALUE` with the option as its
 * parameter.
 */
export function countsQuery(query: QueryInput | undefined, options: CountOptions): CountsQuery {
  const { facets = [], top = DEFAULT_TOP, attributes = false } = options
  const { visible, within = DEFAULT_WITHIN_MS } = options
  return {
    where: toQuery(query).where,
    visible: checkVisible(visible),
    buckets: readBuckets(options.buckets),
    facets: readFacets(facets),
    top: readWhole('top', top, 1, MAX_TOP),
    attributes: flag('attributes', attributes),
    within: readWhole('within', within, 0, MAX_WITHIN_MS),
  }
}
