import { AuditLogError } from '../errors.js'
import type { Grouping } from '../filter/ast.js'
import type { AttributeTypes } from '../filter/declared.js'
import { parseQuery, type QueryObject } from '../filter/parse.js'
import { isBlank } from '../filter/values.js'

/** The name of a blank value, which a filter would ignore; `undefined` if there is none. */
function findBlank(value: unknown, at: string): string | undefined {
  if (value === undefined || (typeof value === 'string' && isBlank(value))) return at
  if (value === null || typeof value !== 'object') return undefined
  const members = Object.entries(value)
  if (members.length === 0) return at
  // A condition without values is ignored as well.
  const isCondition = 'p' in value || 'predicate' in value
  if (isCondition && !('v' in value || 'values' in value)) return `${at}[v]`
  for (const [key, member] of members) {
    const blank = findBlank(member, `${at}[${key}]`)
    if (blank !== undefined) return blank
  }
  return undefined
}

/**
 * Parses the host's filter for the events that a user may see; `undefined` if all are visible. A query
 * ignores blank values, which would make all events visible here. Therefore a blank or undefined value, an
 * empty list or a condition without a value throws `INVALID_VALUE`.
 */
export function parseVisible(
  filter: QueryObject['filter'],
  attributes?: AttributeTypes,
): Grouping | undefined {
  if (filter === undefined) return undefined
  const blank = Object.entries(Object(filter) as object)
    .map(([key, value]) => findBlank(value, `filter[${key}]`))
    .find((name) => name !== undefined)
  if (blank !== undefined)
    throw new AuditLogError(
      'INVALID_VALUE',
      `visible: ${blank} is blank and would match everything; use { id_null: true } to match nothing`,
      { parameter: blank },
    )
  return parseQuery({ filter }, attributes && { attributes }).where
}
