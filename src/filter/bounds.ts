import { parseTimeBound, type Microseconds } from '../event/timestamp.js'
import { type Condition, type Grouping, isAlternative } from './ast.js'
import type { PredicateName } from './predicates.js'

/** The range of times that contains every match, both ends included. */
export interface TimeBounds {
  readonly from: Microseconds
  readonly to: Microseconds
}

export const ALL_TIME: TimeBounds = { from: -Infinity, to: Infinity }

export const isEmpty = ({ from, to }: TimeBounds): boolean => from > to

/** Splits the bounds at the last time that an index covers. */
export function splitAt(
  { from, to }: TimeBounds,
  last: Microseconds,
): { readonly covered: TimeBounds; readonly rest: TimeBounds } {
  return {
    covered: { from, to: Math.min(to, last) },
    rest: { from: Math.max(from, last + 1), to },
  }
}

/** The part of the bounds that remains after a scan in this order has reached the time. */
export const beyond = (
  { from, to }: TimeBounds,
  time: Microseconds,
  order: 'asc' | 'desc',
): TimeBounds => (order === 'asc' ? { from: time + 1, to } : { from, to: time - 1 })

/** The times that pass a test of `created_at`; all times if they are not one range. */
export function predicateBounds(predicate: PredicateName, text: string): TimeBounds {
  const time = parseTimeBound(text)
  if (time === undefined) return ALL_TIME
  switch (predicate) {
    case 'eq':
      return { from: Math.ceil(time), to: Math.floor(time) }
    case 'lt':
      return { from: -Infinity, to: Math.ceil(time) - 1 }
    case 'lteq':
      return { from: -Infinity, to: Math.floor(time) }
    case 'gt':
      return { from: Math.floor(time) + 1, to: Infinity }
    case 'gteq':
      return { from: Math.ceil(time), to: Infinity }
    default:
      return ALL_TIME
  }
}

function conditionBounds({ attributes, predicate, values }: Condition): TimeBounds {
  const [attribute, ...others] = attributes
  if (attribute !== 'created_at' || others.length > 0) return ALL_TIME
  return predicateBounds(predicate, values[0] ?? '')
}

/** True if {@link timeBounds} expresses the whole condition. */
export const setsTimeBound = (condition: Condition): boolean =>
  conditionBounds(condition) !== ALL_TIME

/** The bounds that a filter sets on `created_at`, as paging and waiting do. */
export function timeBounds(where: Grouping | undefined): TimeBounds {
  if (!where || isAlternative(where)) return ALL_TIME
  const parts = [...where.conditions.map(conditionBounds), ...where.groupings.map(timeBounds)]
  return {
    from: Math.max(...parts.map((part) => part.from)),
    to: Math.min(...parts.map((part) => part.to)),
  }
}
