import type { Condition, Grouping } from './ast.js'
import { AuditLogError } from '../errors.js'
import { droppedPart, parseWhole, setsNoCondition } from './parse.js'
import { predicates } from './predicates.js'
import { checkOptions } from '../options.js'
import { isParsed, PARSED_QUERY, type QueryInput } from './query-input.js'
import { isBlank } from './values.js'

/** The name of a part of a parsed filter that sets no condition; `undefined` if there is none. */
function findEmpty(grouping: Grouping, at: string): string | undefined {
  const { conditions, groupings } = Object(grouping) as Grouping
  // The host may have made it, and not use TypeScript.
  if (!Array.isArray(conditions) || !Array.isArray(groupings)) return at
  if (conditions.length + groupings.length === 0) return at
  for (const [i, condition] of conditions.entries())
    if (!isWhole(condition)) return `${at}.conditions[${i}]`
  for (const [i, nested] of groupings.entries()) {
    const empty = findEmpty(nested, `${at}.groupings[${i}]`)
    if (empty !== undefined) return empty
  }
  return undefined
}

const areTexts = (given: readonly unknown[]): boolean =>
  Array.isArray(given) &&
  given.length > 0 &&
  given.every((text) => typeof text === 'string' && !isBlank(text))

function isWhole(condition: Condition): boolean {
  const { attributes, predicate: name, values } = Object(condition) as Condition
  const predicate = predicates.get(name)
  if (!predicate || !areTexts(attributes)) return false
  if (predicate.takes === 'flag') return true
  return areTexts(values) && (predicate.takes === 'list' || values.length === 1)
}

/**
 * Reads the filter by which something is removed, kept or sent. Throws what `parseQuery` throws, and `INVALID_VALUE` for
 * sorts, for a limit, and for each part that a query would leave out, also of a parsed query: without it the filter would
 * match more. Returns `undefined` for a query without conditions.
 */
export function parseActing(given: QueryInput): Grouping | undefined {
  const { where, sorts, limit } = isParsed(given) ? checkParsed(given) : parseWhole(given)
  if (sorts.length > 0) throw new AuditLogError('INVALID_VALUE', 'cannot have sorts')
  if (!isParsed(given) && limit !== Infinity)
    throw new AuditLogError('INVALID_VALUE', 'cannot have a limit')
  return where
}

function checkParsed(given: Extract<QueryInput, { readonly where: unknown }>): typeof given {
  checkOptions(given, PARSED_QUERY, 'a parsed query')
  const empty = droppedPart(given) ?? (given.where && findEmpty(given.where, 'where'))
  if (empty !== undefined) throw setsNoCondition(empty)
  return given
}
