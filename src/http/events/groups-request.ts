import { MAX_BUCKETS, MAX_TOP } from '../../counting/count-options.js'
import type { Grouping } from '../../filter/ast.js'
import { isBlank } from '../../filter/values.js'
import { DEFAULT_TOP } from '../../grouping/group-options.js'
import type { GroupOptions } from '../../store/groups.js'
import {
  extractParameters,
  type IntegerRange,
  invalidParameter,
  type Parameters,
  readInteger,
  readSingleValues,
} from '../parameters.js'
import { parseEventsQuery } from './query.js'

/** The parameters of a request for groups. */
export interface GroupsRequest {
  readonly where: Grouping | undefined
  readonly options: GroupOptions
}

/** The integer parameters. */
export const GROUP_RANGES = {
  buckets: { min: 0, max: MAX_BUCKETS, default: 0 },
  top: { min: 1, max: MAX_TOP, default: DEFAULT_TOP },
} as const satisfies Record<string, IntegerRange>

const OWN = /^(?:buckets|zone|top|limit)$/
const LISTS = /^(by|numbers)(?:\[\d*\])?$/

const listOf = (parameters: Parameters, list: string): readonly string[] =>
  parameters.flatMap(([name, value]) =>
    LISTS.exec(name)?.[1] === list && !isBlank(value) ? [value] : [],
  )

/** Throws for invalid parameters. Attribute names are checked by `audit.groups`. */
export function readGroupsRequest(query: string): GroupsRequest {
  const { extracted, rest } = extractParameters(query, (name) => OWN.test(name) || LISTS.test(name))
  const own = readSingleValues(extracted.filter(([name]) => OWN.test(name)))
  const { where } = parseEventsQuery(rest, 'filter, q, by[], numbers[], buckets, zone and top')
  if (own.has('limit'))
    throw invalidParameter('limit', 'is not allowed: groups include all matching events; use top')
  const count = readInteger(own, 'buckets', GROUP_RANGES.buckets)
  const zone = own.get('zone') ?? ''
  return {
    where,
    options: {
      by: listOf(extracted, 'by'),
      numbers: listOf(extracted, 'numbers'),
      buckets: count === 0 ? undefined : { count, ...(!isBlank(zone) && { zone }) },
      top: readInteger(own, 'top', GROUP_RANGES.top),
    },
  }
}
