import { AuditLogError } from '../../errors.js'
import type { EventQuery } from '../../filter/ast.js'
import { parseQuery } from '../../filter/parse.js'
import { didYouMean } from '../../filter/suggest.js'
import { FIELDS } from './fieldset.js'

/** Parameters that JSON:API clients bring along, and what to say of them. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ['include', '; no resource is related to events but by a link'],
  ['page', didYouMean('limit and filter[created_at_lt]')],
])

function withHint(error: unknown, known: string): unknown {
  if (!(error instanceof AuditLogError) || error.code !== 'UNKNOWN_PARAMETER') return error
  const { code, parameter = '', suggestion } = error
  const hint = HINTS.get(/^[^[]*/.exec(parameter)![0]) ?? didYouMean(suggestion)
  return new AuditLogError(
    code,
    `${parameter} is not a parameter here; there are ${known}${hint}`,
    { parameter, suggestion },
  )
}

/** Reads the filters of a feed as `parseQuery` does, and refuses parameters other than those `known`. */
export function parseEventsQuery(query: string, known = `filter, limit and ${FIELDS}`): EventQuery {
  try {
    return parseQuery(query, { strict: true })
  } catch (error) {
    throw withHint(error, known)
  }
}
