import type { Grouping } from '../../filter/ast.js'
import { isBlank } from '../../filter/values.js'
import type { GroupOptions } from '../../store/groups.js'
import {
  extractParameters,
  invalidParameter,
  type Parameters,
  readInteger,
  readSingleValues,
} from '../parameters.js'
import { GROUP_RANGES } from '../openapi/parameters.js'
import { parseEventsQuery } from './query.js'

/** The parameters of a request for groups. */
export interface GroupsRequest {
  readonly where: Grouping | undefined
  readonly options: GroupOptions
}

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
