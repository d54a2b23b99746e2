import {
  DEFAULT_WITHIN_MS,
  MAX_TOP,
  MAX_WITHIN_MS,
  optionFault,
  readBuckets,
  readWhole,
} from '../counting/count-options.js'
import { checkVisible, type QueryInput, toQuery } from '../filter/query-input.js'
import type { GroupOptions, GroupsQuery } from '../store/groups.js'

export const DEFAULT_TOP = 20
export const MAX_BY = 2
export const MAX_NUMBERS = 5

function readNames(parameter: string, names: unknown, max: number): readonly string[] {
  if (!Array.isArray(names)) throw optionFault(parameter, 'must be a list of names of attributes')
  for (const name of names)
    if (typeof name !== 'string' || name === '')
      throw optionFault(parameter, 'must be names of attributes')
  const distinct = [...new Set<string>(names)]
  if (distinct.length > max) throw optionFault(parameter, `must be at most ${max} attributes`)
  return distinct
}

function readBy(by: unknown): readonly string[] {
  const names = readNames('by', by, MAX_BY)
  if (names.length === 0) throw optionFault('by', 'must name one or two attributes, or level')
  for (const name of names)
    if (name === 'id' || name === 'created_at')
      throw optionFault('by', `cannot have ${name}, whose values are all different`)
  return names
}

/**
 * The groups query for a call. Throws like `parseQuery`, and `INVALID_VALUE` with the option as its
 * parameter.
 */
export function groupsQuery(query: QueryInput | undefined, options: GroupOptions): GroupsQuery {
  const { numbers = [], top = DEFAULT_TOP, within = DEFAULT_WITHIN_MS, visible } = options
  return {
    where: toQuery(query).where,
    visible: checkVisible(visible),
    by: readBy(options.by),
    numbers: readNames('numbers', numbers, MAX_NUMBERS),
    buckets: readBuckets(options.buckets),
    top: readWhole('top', top, 1, MAX_TOP),
    within: readWhole('within', within, 0, MAX_WITHIN_MS),
  }
}
