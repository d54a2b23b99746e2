import type { Condition, EventQuery, Grouping, PredicateName } from 'daybook'

/** The query string of filters. The names are given without `filter[…]` around their first part. */
export const filters = (text: string): string =>
  text.replaceAll(
    /(^|&)([^=&[]+)/g,
    (_, before: string, name: string) => `${before}filter[${name}]`,
  )

/** A condition on one attribute. */
export const cond = (
  attribute: string,
  predicate: PredicateName,
  ...values: readonly string[]
): Condition => ({
  attributes: [attribute],
  combinator: 'and',
  predicate,
  values,
})

/** A condition on several attributes of one name. */
export const joined = (
  combinator: 'or' | 'and',
  attributes: readonly string[],
  predicate: PredicateName,
  ...values: readonly string[]
): Condition => ({
  attributes,
  combinator,
  joinedName: attributes.join(`_${combinator}_`),
  predicate,
  values,
})

export const and = (
  conditions: readonly Condition[],
  groupings: readonly Grouping[] = [],
): Grouping => ({
  combinator: 'and',
  conditions,
  groupings,
})

export const or = (
  conditions: readonly Condition[],
  groupings: readonly Grouping[] = [],
): Grouping => ({
  combinator: 'or',
  conditions,
  groupings,
})

/** A query without filters. */
export const everything: EventQuery = { where: undefined, sorts: [], limit: 10 }

export const where = (grouping: Grouping): EventQuery => ({ ...everything, where: grouping })

/** A query with conditions joined by `and`. */
export const all = (...conditions: readonly Condition[]): EventQuery => where(and(conditions))
