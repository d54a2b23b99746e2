import { AuditLogError } from '../errors.js'
import type { Grouping } from './ast.js'
import type { AttributeTypes } from './declared.js'
import { parseQuery, type QueryObject } from './parse.js'
import { isBlank } from './values.js'

/** What a user may see: a filter with at least one condition, or `'all'`. */
export type Visible = NonNullable<QueryObject['filter']> | 'all'

/** Members of a grouping that are not conditions. */
const SETTINGS = new Set(['m', 'combinator', 's', 'sorts'])

/** The name of a value that a filter would ignore; `undefined` if there is none. */
function findBlank(value: unknown, at: string): string | undefined {
  if (value === undefined || value === null || (typeof value === 'string' && isBlank(value)))
    return at
  if (typeof value !== 'object' || value instanceof Date) return undefined
  const members = Object.entries(value)
  // Also true for a list or object without members.
  if (members.every(([key]) => SETTINGS.has(key))) return at
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
 * Parses what the host's `visible` returned; `undefined` if it is `'all'`. A query ignores blank values
 * and groupings without conditions, which would show all events here. Therefore `undefined`, null, a filter
 * without conditions, a blank value, an empty list or a condition without a value throws `INVALID_VALUE`.
 */
export function parseVisible(visible: Visible, attributes?: AttributeTypes): Grouping | undefined {
  if (visible === 'all') return undefined
  const where = restriction(visible, attributes)
  if (typeof where === 'object') return where
  throw new AuditLogError(
    'INVALID_VALUE',
    `visible: ${where} sets no condition and would match everything; ` +
      `return 'all' to show everything, { id_null: true } to show nothing`,
    { parameter: where },
  )
}

/** The parsed filter, or the name of the part that does not restrict. */
function restriction(
  filter: Exclude<Visible, 'all'>,
  attributes?: AttributeTypes,
): Grouping | string {
  const blank = findBlank(filter, 'filter')
  if (blank !== undefined) return blank
  return parseQuery({ filter }, attributes && { attributes }).where ?? 'filter'
}
