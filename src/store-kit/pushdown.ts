import { isStorableText } from '../event/json-copy.js'
import type { Combinator, Condition, Grouping } from '../filter/ast.js'
import { predicateOf, type Predicate } from '../filter/predicates.js'
import { andSql, orSql, type Sql } from './sql.js'

/**
 * A test of one attribute that a store can make by itself, weaker than the predicate or equal to it:
 * it may let events through that do not match, and loses none that do. `undefined` where it has none.
 */
export type PushDown<Test> = (
  attribute: string,
  predicate: Predicate,
  values: readonly string[],
) => Test | undefined

export type PushDownAttribute = PushDown<Sql>

export type Join<Test> = (tests: readonly Test[], combinator: Combinator) => Test

/** A part of a conjunction that cannot be narrowed is left out; of a disjunction, it spoils all. */
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
  predicate: Predicate,
  values: readonly string[],
  narrow: PushDown<Test>,
  join: Join<Test>,
): Test | undefined {
  // A database would read another text than the predicate does.
  if (![attribute, ...values].every(isStorableText)) return undefined
  if (!predicate.compound) return narrow(attribute, predicate, values)
  const parts = values.map((value) => narrow(attribute, predicate, [value]))
  return combine(parts, predicate.compound === 'any' ? 'or' : 'and', join)
}

function pushDownCondition<Test>(
  condition: Condition,
  narrow: PushDown<Test>,
  join: Join<Test>,
): Test | undefined {
  const predicate = predicateOf(condition.predicate)
  const one = (attribute: string): Test | undefined =>
    pushDownAttribute(attribute, predicate, condition.values, narrow, join)
  const apart = combine(condition.attributes.map(one), condition.combinator, join)
  return condition.joinedName === undefined
    ? apart
    : combine([one(condition.joinedName), apart], 'or', join)
}

/** The whole filter as far as the store's tests go, to be followed by the compiled predicate. */
export function pushDownWith<Test>(
  where: Grouping | undefined,
  narrow: PushDown<Test>,
  join: Join<Test>,
): Test | undefined {
  if (!where) return undefined
  return combine(
    [
      ...where.conditions.map((condition) => pushDownCondition(condition, narrow, join)),
      ...where.groupings.map((grouping) => pushDownWith(grouping, narrow, join)),
    ],
    where.combinator,
    join,
  )
}

/** The same in SQL. */
export function pushDownFilter(
  where: Grouping | undefined,
  narrow: PushDownAttribute,
): Sql | undefined {
  return pushDownWith(where, narrow, (parts, combinator) =>
    combinator === 'or' ? orSql(parts) : andSql(parts),
  )
}
