import { isStorableText } from '../event/json-copy.js'
import type { Combinator, Condition, Grouping } from '../filter/ast.js'
import { predicateOf, type Predicate } from '../filter/predicates.js'
import { andSql, orSql, type Sql } from './sql.js'

/**
 * Translates a test of one attribute for a store. The result may accept events that do not match, but
 * never rejects one that does. `undefined` if the store cannot run such a test.
 */
export type PushDown<Test> = (
  attribute: string,
  predicate: Predicate,
  values: readonly string[],
) => Test | undefined

export type PushDownAttribute = PushDown<Sql>

export type Join<Test> = (tests: readonly Test[], combinator: Combinator) => Test

/** A part that cannot be pushed down is left out of a conjunction, and prevents pushdown of a disjunction. */
function combine<Test>(
  parts: readonly (Test | undefined)[],
  combinator: Combinator,
  join: Join<Test>,
): Test | undefined {
  const known = parts.filter((part) => part !== undefined)
  if (known.length === 0 || (combinator === 'or' && known.length < parts.length)) return undefined
  return join(known, combinator)
}

function pushDownAttribute<Test>(
  attribute: string,
  { predicate: name, values }: Condition,
  pushDown: PushDown<Test>,
  join: Join<Test>,
): Test | undefined {
  const predicate = predicateOf(name)
  // A database would read these texts differently from the predicate.
  if (![attribute, ...values].every(isStorableText)) return undefined
  if (!predicate.compound) return pushDown(attribute, predicate, values)
  const parts = values.map((value) => pushDown(attribute, predicate, [value]))
  return combine(parts, predicate.compound === 'any' ? 'or' : 'and', join)
}

/** True if an event may match only because some of its attributes are concealed. */
function mayMatchWithLess({ predicate }: Condition): boolean {
  const { test, negated } = predicateOf(predicate)
  return negated !== (test === 'null' || test === 'blank')
}

function pushDownCondition<Test>(
  condition: Condition,
  pushDown: PushDown<Test>,
  join: Join<Test>,
): Test | undefined {
  if (condition.concealed && mayMatchWithLess(condition)) return undefined
  const one = (attribute: string): Test | undefined =>
    pushDownAttribute(attribute, condition, pushDown, join)
  const separate = combine(condition.attributes.map(one), condition.combinator, join)
  return condition.joinedName === undefined
    ? separate
    : combine([one(condition.joinedName), separate], 'or', join)
}

/** Pushes a filter down as far as possible. The compiled predicate has to test the results. */
export function pushDownWith<Test>(
  where: Grouping | undefined,
  pushDown: PushDown<Test>,
  join: Join<Test>,
): Test | undefined {
  if (!where) return undefined
  return combine(
    [
      ...where.conditions.map((condition) => pushDownCondition(condition, pushDown, join)),
      ...where.groupings.map((grouping) => pushDownWith(grouping, pushDown, join)),
    ],
    where.combinator,
    join,
  )
}

// Longer SQL takes long to write here, and to plan on the server.
const MAX_TESTS = 1000

/** The number of tests in SQL. */
function testsIn({ conditions, groupings }: Grouping): number {
  let count = 0
  for (const { attributes, values, predicate } of conditions)
    count += attributes.length * (predicateOf(predicate).compound ? values.length : 1)
  for (const grouping of groupings) count += testsIn(grouping)
  return count
}

/** Pushes a filter down to SQL; `undefined` also if it has too many tests. */
export function pushDownFilter(
  where: Grouping | undefined,
  pushDown: PushDownAttribute,
): Sql | undefined {
  if (where && testsIn(where) > MAX_TESTS) return undefined
  return pushDownWith(where, pushDown, (parts, combinator) =>
    combinator === 'or' ? orSql(parts) : andSql(parts),
  )
}
