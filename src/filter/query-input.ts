import type { EventQuery } from './ast.js'
import { AuditLogError } from '../errors.js'
import { MAX_SORTS, parseQuery, type QueryObject, readLimit, tooManySorts } from './parse.js'
import { checkOptions, type OptionNames } from '../options.js'

/** A query string, an object of the same shape, or a query already parsed. */
export type QueryInput = string | URLSearchParams | QueryObject | EventQuery

export const PARSED_QUERY: OptionNames<EventQuery> = { where: true, sorts: true, limit: true }

export const isParsed = (input: QueryInput | undefined): input is EventQuery =>
  input !== null && typeof input === 'object' && 'sorts' in input && 'where' in input

/** Throws what `parseQuery` throws, and `INVALID_OPTION` for a parsed query with other members. */
export function toQuery(input: QueryInput | undefined): EventQuery {
  if (!isParsed(input)) return parseQuery(input)
  checkOptions(input, PARSED_QUERY, 'a parsed query')
  if (input.sorts.length > MAX_SORTS)
    throw new AuditLogError('QUERY_TOO_LARGE', tooManySorts(input.sorts))
  const limit = readLimit(String(input.limit))
  return limit === input.limit ? input : { ...input, limit }
}
