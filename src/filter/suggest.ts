import { MAX_PREDICATE_LENGTH, predicates } from './predicates.js'

/**
 * The number of edits between two words; two swapped letters count as one ("optimal string
 * alignment"). Returns `limit + 1` as soon as the distance exceeds the limit.
 */
function distance(left: string, right: string, limit: number): number {
  if (Math.abs(left.length - right.length) > limit) return limit + 1
  let before: number[] = []
  let row = Array.from({ length: right.length + 1 }, (_, i) => i)
  for (let i = 1; i <= left.length; i++) {
    const next = [i]
    for (let j = 1; j <= right.length; j++) {
      const substitution = row[j - 1]! + (left[i - 1] === right[j - 1] ? 0 : 1)
      const edits = Math.min(substitution, row[j]! + 1, next[j - 1]! + 1)
      const isSwap = left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]
      next.push(isSwap && i > 1 && j > 1 ? Math.min(edits, before[j - 2]! + 1) : edits)
    }
    if (Math.min(...row, ...next) > limit) return limit + 1
    before = row
    row = next
  }
  return row[right.length]!
}

/** The candidate with the fewest edits, if these are at most a third of the word. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Math.floor(word.length / 3) + 1
  for (const candidate of candidates) {
    const edits = distance(word, candidate, bestDistance - 1)
    if (edits < bestDistance) {
      best = candidate
      bestDistance = edits
    }
  }
  return best
}

/** The end of a message that names the suggestion, if there is one. */
export const didYouMean = (suggestion: string | undefined): string =>
  suggestion === undefined ? '' : `; did you mean ${suggestion}?`

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
