import { isStorableText } from '../json-copy.js'
import type { Combinator, Condition, Grouping } from './ast.js'
import { predicateOf, type Predicate } from './predicates.js'
import { andSql, orSql, type Sql } from './sql.js'

/**
 * A database's test of one attribute, weaker than the predicate or equal to it: it may let events
 * through that do not match, and loses none that do. `undefined` where it has none.
 */
export type NarrowAttribute = (
  attribute: string,
  predicate: Predicate,
  values: readonly string[],
) => Sql | undefined

/** A part of a conjunction that cannot be narrowed is left out; of a disjunction, it spoils all. */
function combine(parts: readonly (Sql | undefined)[], combinator: Combinator): Sql | undefined {
  const known = parts.filter((part) => part !== undefined)
  if (known.length === 0 || (combinator === 'or' && known.length < parts.length)) return undefined
  return combinator === 'or' ? orSql(known) : andSql(known)
}

function narrowOne(
  attribute: string,
  predicate: Predicate,
  values: readonly string[],
  narrow: NarrowAttribute,
): Sql | undefined {
  // A database would read another text than the predicate does.
  if (![attribute, ...values].every(isStorableText)) return undefined
  if (!predicate.compound) return narrow(attribute, predicate, values)
  const parts = values.map((value) => narrow(attribute, predicate, [value]))
  return combine(parts, predicate.compound === 'any' ? 'or' : 'and')
}

function narrowCondition(condition: Condition, narrow: NarrowAttribute): Sql | undefined {
  const predicate = predicateOf(condition.predicate)
  const one = (attribute: string): Sql | undefined =>
    narrowOne(attribute, predicate, condition.values, narrow)
  const apart = combine(condition.attributes.map(one), condition.combinator)
  return condition.joinedName === undefined
    ? apart
    : combine([one(condition.joinedName), apart], 'or')
}

/** The whole filter in SQL as far as it goes, to be followed by the compiled predicate. */
export function narrowFilter(
  where: Grouping | undefined,
  narrow: NarrowAttribute,
): Sql | undefined {
  if (!where) return undefined
  return combine(
    [
      ...where.conditions.map((condition) => narrowCondition(condition, narrow)),
      ...where.groupings.map((grouping) => narrowFilter(grouping, narrow)),
    ],
    where.combinator,
  )
}
