import { DEFAULT_BUCKETS, DEFAULT_TOP, MAX_BUCKETS, MAX_TOP } from '../../counting/count-options.js'
import type { CountOptions } from '../../store/counts.js'
import type { Grouping } from '../../filter/ast.js'
import { isBlank } from '../../filter/values.js'
import {
  invalidParameter,
  readSingleValues,
  readFlag,
  readInteger,
  extractParameters,
  type IntegerRange,
} from '../parameters.js'
import { parseEventsQuery } from './query.js'

/** The parameters of a request for counts. */
export interface CountsRequest {
  readonly where: Grouping | undefined
  readonly options: CountOptions
}

/** The integer parameters. */
export const COUNT_RANGES = {
  buckets: { min: 0, max: MAX_BUCKETS, default: DEFAULT_BUCKETS },
  top: { min: 1, max: MAX_TOP, default: DEFAULT_TOP },
} as const satisfies Record<string, IntegerRange>

export const FACETS_PARAMETER = 'facets'

const OWN = /^(?:buckets|zone|top|attributes|limit)$/
const FACET = /^facets(?:\[\d*\])?$/

/** Throws for invalid parameters. Attribute names are checked by `audit.count`. */
export function readCountsRequest(query: string): CountsRequest {
  const { extracted, rest } = extractParameters(query, (name) => OWN.test(name) || FACET.test(name))
  const own = readSingleValues(extracted.filter(([name]) => OWN.test(name)))
  const { where } = parseEventsQuery(
    rest,
    `filter, q, buckets, zone, ${FACETS_PARAMETER}[], top and attributes`,
  )
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
