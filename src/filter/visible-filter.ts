import { type Grouping, testingEveryValue } from './ast.js'
import type { AttributeTypes } from './attribute-types.js'
import { AuditLogError } from '../errors.js'
import { parseWhole, type QueryObject } from './parse.js'

/** The events that a user may see: a filter with at least one condition, or `'all'`. */
export type Visible = NonNullable<QueryObject['filter']> | 'all'

/**
 * Parses the result of the host's `visible`; `undefined` if it is `'all'`. An empty list matches nothing, whatever its
 * predicate. A positive condition has to hold for every value that its name reaches. Throws `INVALID_VALUE` for `undefined`, null, a filter without conditions, and for each part that a query
 * would leave out, such as a blank value: without it the filter would show more.
 */
export function parseVisible(visible: Visible, attributes?: AttributeTypes): Grouping | undefined {
  if (visible === 'all') return undefined
  const options = { emptyMatchesNothing: true, ...(attributes && { attributes }) }
  const { where } = parseWhole({ filter: visible }, options)
  if (where) return testingEveryValue(where)
  throw new AuditLogError(
    'INVALID_VALUE',
    'visible: the filter has no condition and would match everything; ' +
      "return 'all' to show everything, { id_in: [] } to show nothing",
    { parameter: 'filter' },
  )
}
