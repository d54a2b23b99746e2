import { AuditLogError } from '../errors.js'
import type { Grouping } from '../filter/ast.js'
import type { AttributeTypes } from '../filter/declared.js'
import { parseQuery, type QueryObject } from '../filter/parse.js'
import { isBlank } from '../filter/values.js'

/** The name of a value that a filter would leave out, where there is one. */
function findBlank(value: unknown, at: string): string | undefined {
  if (value === undefined || (typeof value === 'string' && isBlank(value))) return at
  if (value === null || typeof value !== 'object') return undefined
  const members = Object.entries(value)
  if (members.length === 0) return at
  // A condition without values is left out as well.
  const isCondition = 'p' in value || 'predicate' in value
  if (isCondition && !('v' in value || 'values' in value)) return `${at}[v]`
  for (const [key, member] of members) {
    const blank = findBlank(member, `${at}[${key}]`)
    if (blank !== undefined) return blank
  }
  return undefined
}

/**
 * A host's filter for what a user may see; `undefined` where that is everything. What a client may leave
 * blank would open everything here, so that it throws: a blank or undefined value, an empty list, a
 * condition without a value.
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
      `visible: ${blank} is blank, and would let everything through; { id_null: true } lets nothing through`,
      { parameter: blank },
    )
  return parseQuery({ filter }, attributes && { attributes }).where
}
