import { fold } from './values.js'

/** A stretch of a pattern between two `%`: its code points, `undefined` where `_` stands. */
type Stretch = readonly (string | undefined)[]

function parsePattern(pattern: string): Stretch[] {
  const stretches: (string | undefined)[][] = [[]]
  let escaped = false
  for (const char of pattern) {
    const stretch = stretches.at(-1)!
    if (escaped) {
      stretch.push(fold(char))
      escaped = false
    } else if (char === '\\') escaped = true
    else if (char === '%') stretches.push([])
    else stretch.push(char === '_' ? undefined : fold(char))
  }
  if (escaped) stretches.at(-1)!.push('\\')
  return stretches
}

const matchesAt = (text: readonly string[], at: number, stretch: Stretch): boolean =>
  stretch.every((char, i) => char === undefined || char === text[at + i])

/**
 * SQL's LIKE without regard to case: `%` stands for any text, `_` for one character, a backslash
 * makes the next character ordinary. Each stretch between two `%` is looked for once, from where
 * the one before ended, so a pattern of many `%` costs no more than the length of the text.
 */
export function likeMatcher(pattern: string): (text: string) => boolean {
  const stretches = parsePattern(pattern)
  const first = stretches[0]!
  const last = stretches.at(-1)!
  const middle = stretches.slice(1, -1).filter((stretch) => stretch.length > 0)
  const shortest = stretches.reduce((sum, stretch) => sum + stretch.length, 0)
  return (raw) => {
    const text = Array.from(fold(raw))
    if (stretches.length === 1) return text.length === first.length && matchesAt(text, 0, first)
    if (text.length < shortest || !matchesAt(text, 0, first)) return false
    const end = text.length - last.length
    if (!matchesAt(text, end, last)) return false
    let at = first.length
    for (const stretch of middle) {
      while (at + stretch.length <= end && !matchesAt(text, at, stretch)) at++
      if (at + stretch.length > end) return false
      at += stretch.length
    }
    return true
  }
}
