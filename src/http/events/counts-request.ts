import type { CountOptions } from '../../store/counts.js'
import type { Grouping } from '../../filter/ast.js'
import { isBlank } from '../../filter/values.js'
import {
  invalidParameter,
  readSingleValues,
  readFlag,
  readInteger,
  extractParameters,
} from '../parameters.js'
import { COUNT_RANGES } from '../openapi/parameters.js'
import { parseEventsQuery } from './query.js'

/** The parameters of a request for counts. */
export interface CountsRequest {
  readonly where: Grouping | undefined
  readonly options: CountOptions
}

const OWN = /^(?:buckets|zone|top|attributes|limit)$/
const FACET = /^facets(?:\[\d*\])?$/

/** Throws for invalid parameters. Attribute names are checked by `audit.count`. */
export function readCountsRequest(query: string): CountsRequest {
  const { extracted, rest } = extractParameters(query, (name) => OWN.test(name) || FACET.test(name))
  const own = readSingleValues(extracted.filter(([name]) => OWN.test(name)))
  const { where } = parseEventsQuery(rest, 'filter, q, buckets, zone, facets[], top and attributes')
  if (own.has('limit'))
    throw invalidParameter('limit', 'is not allowed: counts include all matching events')
  const facets = extracted.flatMap(([name, value]) => (FACET.test(name) ? [value] : []))
  const count = readInteger(own, 'buckets', COUNT_RANGES.buckets)
  const zone = own.get('zone') ?? ''
  return {
    where,
    options: {
      buckets: count === 0 ? undefined : { count, ...(!isBlank(zone) && { zone }) },
      facets: facets.filter((name) => !isBlank(name)),
      top: readInteger(own, 'top', COUNT_RANGES.top),
      attributes: readFlag(own, 'attributes'),
    },
  }
}
