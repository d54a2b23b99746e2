import { ANY_TEXT, isOwnField } from '../event/own-fields.js'
import type { PredicateName } from './predicates.js'

export type Combinator = 'and' | 'or'

/**
 * One test, like a condition in Ransack: attributes, a predicate, and values as the client wrote them.
 * Predicates that test presence or truth have no values: an inverting value
 * (`filter[archived_true]=0`) is already replaced by the opposite predicate.
 */
export interface Condition {
  readonly attributes: readonly string[]
  /** Joins the tests of several attributes. */
  readonly combinator: Combinator
  /**
   * The name that the client wrote if several attributes came from it, such as `a_or_b`. An event that
   * has an attribute with this name is tested by that attribute instead.
   */
  readonly joinedName?: string
  readonly predicate: PredicateName
  readonly values: readonly string[]
  /** True if a positive test has to pass on every value that a name reaches, and on at least one; otherwise one is enough. */
  readonly everyValue?: true
  /** Names of attributes. The condition is tested on the event without them. */
  readonly concealed?: readonly string[]
}

/** Conditions and nested groupings, joined by one combinator. Never empty. */
export interface Grouping {
  readonly combinator: Combinator
  readonly conditions: readonly Condition[]
  readonly groupings: readonly Grouping[]
}

/** True if one of several members is enough for a match. */
export const isAlternative = ({ combinator, conditions, groupings }: Grouping): boolean =>
  combinator === 'or' && conditions.length + groupings.length > 1

export interface Sort {
  readonly attribute: string
  readonly direction: 'asc' | 'desc'
}

/** A parsed query. */
export interface EventQuery {
  /** The filter; `undefined` matches every event. */
  readonly where: Grouping | undefined
  /**
   * Without sorts the query asks for the newest matching events, oldest first. With sorts it asks for
   * the first events in that order; ties are ordered by `created_at`, then `id`, ascending.
   */
  readonly sorts: readonly Sort[]
  /** Maximum number of events to return, 1 to 1000. */
  readonly limit: number
}

export const DEFAULT_LIMIT = 10
export const MAX_LIMIT = 1000

/** A filter for the events that both filters match. */
export function bothOf(
  left: Grouping | undefined,
  right: Grouping | undefined,
): Grouping | undefined {
  if (!left || !right) return left ?? right
  return { combinator: 'and', conditions: [], groupings: [left, right] }
}

/**
 * The filter with `everyValue` in each condition that may reach several values. So an event that has another value beside
 * the right one does not match.
 */
export function testingEveryValue({ conditions, groupings, ...where }: Grouping): Grouping {
  return {
    ...where,
    conditions: conditions.map((one) =>
      one.attributes.every(hasOneValue) ? one : { ...one, everyValue: true },
    ),
    groupings: groupings.map(testingEveryValue),
  }
}

/** True for own fields, and for the search of all texts, which takes them as one value. */
const hasOneValue = (name: string): boolean => isOwnField(name) || name === ANY_TEXT

/** Restricts the filter to events before `created_at`. Replaces such a restriction of an earlier page. */
export function olderThan(where: Grouping | undefined, created_at: string): Grouping {
  const older = oneCondition('created_at', 'lt', [created_at])
  if (!where) return older
  if (where.combinator === 'or') return { ...older, groupings: [where] }
  const others = where.conditions.filter(
    ({ attributes: [attribute, ...more], predicate }) =>
      attribute !== 'created_at' || more.length > 0 || predicate !== 'lt',
  )
  return { ...where, conditions: [...others, ...older.conditions] }
}

/** One condition on one attribute. */
export function oneCondition(
  attribute: string,
  predicate: PredicateName,
  values: readonly string[],
): Grouping {
  const condition: Condition = { attributes: [attribute], combinator: 'and', predicate, values }
  return { combinator: 'and', conditions: [condition], groupings: [] }
}
