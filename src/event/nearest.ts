/**
 * The number of edits between two words; two swapped letters count as one ("optimal string
 * alignment"). Returns `limit + 1` as soon as the distance exceeds the limit.
 */
export function editDistance(left: string, right: string, limit: number): number {
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
    const edits = editDistance(word, candidate, bestDistance - 1)
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
