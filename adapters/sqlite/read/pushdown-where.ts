import type { Grouping } from '../../../src/filter/ast.js'
import { type PushDownAttribute, pushDownFilter } from '../../../src/store-kit/pushdown.js'
import type { Sql } from '../../../src/store-kit/sql.js'

// Longer SQL could exceed SQLite's limit of 1000 for the depth of an expression.
const MAX_LENGTH = 12_000

/** Pushes a filter down as far as possible; `undefined` if the SQL is too long. */
export function pushDownWhere(
  where: Grouping | undefined,
  pushDown: PushDownAttribute,
): Sql | undefined {
  const pushdown = pushDownFilter(where, pushDown)
  return pushdown && pushdown.text.length <= MAX_LENGTH ? pushdown : undefined
}
