import type { EventQuery } from './ast.js'
import { parseQuery, type QueryObject, readLimit } from './parse.js'

/** A query string, an object of the same shape, or a query already parsed. */
export type QueryInput = string | URLSearchParams | QueryObject | EventQuery

/** Throws what `parseQuery` throws. */
export function toQuery(input: QueryInput | undefined): EventQuery {
  const isParsed =
    input !== null && typeof input === 'object' && 'sorts' in input && 'where' in input
  if (!isParsed) return parseQuery(input)
  const limit = readLimit(String(input.limit))
  return limit === input.limit ? input : { ...input, limit }
}
