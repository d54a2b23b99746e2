import { nearest } from '../event/nearest.js'
import { MAX_PREDICATE_LENGTH, predicates } from './predicates.js'

/** The key with its end replaced by the nearest predicate: `type_equals` -> `type_eq`. */
export function suggestKey(key: string): string | undefined {
  const whole = SYNONYMS.get(key) ?? nearest(key, predicates.keys())
  if (whole !== undefined && !key.includes('_')) return whole
  const first = Math.max(key.length - 2 * MAX_PREDICATE_LENGTH, 1)
  for (let at = key.indexOf('_', first); at !== -1; at = key.indexOf('_', at + 1)) {
    const ending = key.slice(at + 1)
    const predicate = SYNONYMS.get(ending) ?? nearest(ending, predicates.keys())
    if (predicate !== undefined) return `${key.slice(0, at)}_${predicate}`
  }
  return whole === key ? undefined : whole
}

// Names of predicates in other query languages.
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['equals', 'eq'],
  ['not_equals', 'not_eq'],
  ['not_contains', 'not_cont'],
  ['not_like', 'does_not_match'],
  ['is', 'eq'],
  ['ne', 'not_eq'],
  ['neq', 'not_eq'],
  ['lte', 'lteq'],
  ['gte', 'gteq'],
  ['before', 'lt'],
  ['after', 'gt'],
  ['contains', 'cont'],
  ['like', 'matches'],
  ['starts_with', 'start'],
  ['begins', 'start'],
  ['begins_with', 'start'],
  ['ends_with', 'end'],
  ['nin', 'not_in'],
  ['exists', 'present'],
])
