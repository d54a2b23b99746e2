import type { Grouping } from '../../../src/filter/ast.js'
import { type PushDownAttribute, pushDownFilter } from '../../../src/store-kit/pushdown.js'
import type { Sql } from '../../../src/store-kit/sql.js'

// SQLite bounds the depth of an expression by 1000: beyond this the predicate works alone.
const MAX_LENGTH = 12_000

/** A filter in SQL as far as it goes, where SQLite takes that much. */
export function narrowWhere(
  where: Grouping | undefined,
  narrow: PushDownAttribute,
): Sql | undefined {
  const narrowed = pushDownFilter(where, narrow)
  return narrowed && narrowed.text.length <= MAX_LENGTH ? narrowed : undefined
}
