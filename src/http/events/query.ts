import { AuditLogError } from '../../errors.js'
import type { EventQuery } from '../../filter/ast.js'
import { parseQuery } from '../../filter/parse.js'
import { didYouMean } from '../../event/nearest.js'

/** Hints for parameters that JSON:API clients send by default. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ['include', '; events relate to other resources only by links'],
  ['page', didYouMean('limit and filter[created_at_lt]')],
])

function withHint(error: unknown, known: string): unknown {
  if (!(error instanceof AuditLogError) || error.code !== 'UNKNOWN_PARAMETER') return error
  const { code, parameter = '', suggestion } = error
  const hint = HINTS.get(/^[^[]*/.exec(parameter)![0]) ?? didYouMean(suggestion)
  return new AuditLogError(
    code,
    `${parameter} is not supported here; the parameters are ${known}${hint}`,
    { parameter, suggestion },
  )
}

/** Parses filters as `parseQuery` does; refuses other parameters, with an error that lists the `known` ones. */
export function parseEventsQuery(query: string, known: string): EventQuery {
  try {
    return parseQuery(query)
  } catch (error) {
    throw withHint(error, known)
  }
}
