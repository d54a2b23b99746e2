import type { PredicateName } from './predicates.js'

export type Combinator = 'and' | 'or'

/**
 * One test, as Ransack's conditions are: some attributes, a predicate, its values as the client
 * wrote them. Predicates that only ask for presence or truth carry no values: an inverting value
 * (`filter[archived_true]=0`) has been turned into the opposite predicate.
 */
export interface Condition {
  readonly attributes: readonly string[]
  /** How the attributes' tests join, where there are several. */
  readonly combinator: Combinator
  /**
   * The name as it was written, `a_or_b`, where several attributes came from one name: an event
   * that has an attribute of that very name is tested by it instead.
   */
  readonly joinedName?: string
  readonly predicate: PredicateName
  readonly values: readonly string[]
}

/** Conditions and further groupings that join by one combinator. Never empty. */
export interface Grouping {
  readonly combinator: Combinator
  readonly conditions: readonly Condition[]
  readonly groupings: readonly Grouping[]
}

/** True where not all of its members must hold. */
export const isAlternative = ({ combinator, conditions, groupings }: Grouping): boolean =>
  combinator === 'or' && conditions.length + groupings.length > 1

export interface Sort {
  readonly attribute: string
  readonly direction: 'asc' | 'desc'
}

/** A parsed query. */
export interface EventQuery {
  /** What must hold; `undefined` matches every event. */
  readonly where: Grouping | undefined
  /**
   * Without sorts the newest matching events are meant, oldest first. With sorts the first of that
   * order, which `created_at` and `id`, ascending, make total.
   */
  readonly sorts: readonly Sort[]
  /** Most events to give, 1 to 1000. */
  readonly limit: number
}

export const DEFAULT_LIMIT = 10
export const MAX_LIMIT = 1000

/** Both must hold. */
export function bothOf(
  left: Grouping | undefined,
  right: Grouping | undefined,
): Grouping | undefined {
  if (!left || !right) return left ?? right
  return { combinator: 'and', conditions: [], groupings: [left, right] }
}

/** The same query for what is older; takes the place of an older-than that it has, as a page's. */
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
