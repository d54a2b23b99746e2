import { type EventQuery, type Grouping, testingEveryValue } from './ast.js'
import { AuditLogError } from '../errors.js'
import { MAX_SORTS, parseQuery, type QueryObject, readLimit, tooManySorts } from './parse.js'
import { checkOptions, type OptionNames } from '../options.js'

/** A query string, an object of the same shape, or a query already parsed. */
export type QueryInput = string | URLSearchParams | QueryObject | EventQuery

/** Throws `INVALID_OPTION` for a filter that is not parsed, such as `{ username_eq: 'ann' }`; `name` names it. */
export function checkParsed(where: Grouping | undefined, name: string): void {
  const { conditions, groupings } = Object(where) as Partial<Grouping>
  if (where === undefined || (Array.isArray(conditions) && Array.isArray(groupings))) return
  throw new AuditLogError(
    'INVALID_OPTION',
    `${name} must be a parsed filter, such as parseQuery({ filter }).where`,
  )
}

/** The parsed filter of what a user may see, with the meaning that `parseVisible` gives it. */
export function checkVisible(visible: Grouping | undefined): Grouping | undefined {
  checkParsed(visible, 'visible')
  return visible && testingEveryValue(visible)
}

export const PARSED_QUERY: OptionNames<EventQuery> = { where: true, sorts: true, limit: true }

export const isParsed = (input: QueryInput | undefined): input is EventQuery =>
  input !== null && typeof input === 'object' && 'sorts' in input && 'where' in input

/** Throws what `parseQuery` throws, and `INVALID_OPTION` for a parsed query with other members. */
export function toQuery(input: QueryInput | undefined): EventQuery {
  if (!isParsed(input)) return parseQuery(input)
  checkOptions(input, PARSED_QUERY, 'a parsed query')
  checkParsed(input.where, 'where')
  if (!Array.isArray(input.sorts))
    throw new AuditLogError('INVALID_OPTION', 'sorts of a parsed query must be a list')
  if (input.sorts.length > MAX_SORTS)
    throw new AuditLogError('QUERY_TOO_LARGE', tooManySorts(input.sorts))
  const limit = readLimit(String(input.limit))
  return limit === input.limit ? input : { ...input, limit }
}
