import { classOf, MAX_CLASSES, type TextTest } from './search.js'
import { fold } from './values.js'

/** A stretch of a pattern between two `%`: its characters, `undefined` where `_` stands. */
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

/** Where the last of these ends, each looked for from the end of the one before; -1 where one lacks. */
function endOfRuns(text: string, runs: readonly string[], from: number): number {
  let at = from
  for (const run of runs) {
    const found = text.indexOf(run, at)
    if (found === -1) return -1
    at = found + run.length
  }
  return at
}

/** Patterns without `_`: whole characters, so UTF-16 units can be compared. */
function literalMatcher(stretches: readonly string[]): TextTest {
  const first = stretches[0]!
  if (stretches.length === 1) return (text) => text === first
  const last = stretches.at(-1)!
  const middle = stretches.slice(1, -1).filter((stretch) => stretch !== '')
  return (text) => {
    if (text.length < first.length + last.length) return false
    if (!text.startsWith(first) || !text.endsWith(last)) return false
    const end = endOfRuns(text, middle, first.length)
    return end !== -1 && end <= text.length - last.length
  }
}

/** The ordinary characters of stretches as texts, in order: what every match has in it. */
function runsOf(stretches: readonly Stretch[]): string[] {
  const marked = stretches.map((stretch) => stretch.map((char) => char ?? '\0').join(''))
  return marked.join('\0').split('\0').filter(Boolean)
}

/** Finds where a stretch first ends, from `from` on and not beyond `end`; -1 where nowhere. */
type Search = (text: readonly string[], from: number, end: number) => number

/**
 * Shift-And (Baeza-Yates and Gonnet, "A new approach to text searching", 1992): the beginnings of
 * the stretch that end at a character are one bit each, so 32 of its characters cost one step.
 * Characters that stand at few places of a long stretch go by their places instead of a mask, so
 * that masks stay few.
 */
function wildSearch(stretch: Stretch): Search {
  const words = Math.ceil(stretch.length / 32)
  const maskOf = (places: readonly number[]): Int32Array => {
    const mask = new Int32Array(words)
    for (const place of places) mask[place >> 5]! |= 1 << (place & 31)
    return mask
  }
  const placesOf = new Map<string | undefined, number[]>()
  for (const [place, char] of stretch.entries()) {
    const places = placesOf.get(char)
    if (places) places.push(place)
    else placesOf.set(char, [place])
  }
  const anything = placesOf.get(undefined) ?? []
  const anyMask = maskOf(anything)
  const masks = new Map<string | undefined, Int32Array>()
  for (const [char, places] of placesOf)
    if (places.length > words) masks.set(char, maskOf([...places, ...anything]))
  const hasBit = (state: Int32Array, place: number): boolean =>
    (state[place >> 5]! & (1 << (place & 31))) !== 0

  return (text, from, end) => {
    const state = new Int32Array(words)
    for (let at = from; at < end; at++) {
      const char = text[at]!
      const mask = masks.get(char)
      const places = mask ? [] : (placesOf.get(char) ?? [])
      const passed = places.filter((place) => place === 0 || hasBit(state, place - 1))
      advance(state, mask ?? anyMask)
      for (const place of passed) state[place >> 5]! |= 1 << (place & 31)
      if (hasBit(state, stretch.length - 1)) return at + 1
    }
    return -1
  }
}

/** Every beginning grows by a character, and a new one is begun; those stay that the mask has. */
function advance(state: Int32Array, mask: Int32Array): void {
  let carry = 1
  for (let word = 0; word < state.length; word++) {
    const before = state[word]!
    state[word] = ((before << 1) | carry) & mask[word]!
    carry = before >>> 31
  }
}

const matchesAt = (text: readonly string[], at: number, stretch: Stretch): boolean =>
  stretch.every((char, i) => char === undefined || char === text[at + i])

function wildMatcher(stretches: readonly Stretch[]): TextTest {
  const first = stretches[0]!
  const last = stretches.at(-1)!
  const middle = stretches
    .slice(1, -1)
    .filter((stretch) => stretch.length > 0)
    .map(wildSearch)
  const shortest = stretches.reduce((sum, stretch) => sum + stretch.length, 0)
  const runs = runsOf(stretches)
  return (whole) => {
    // Few texts come by this, which is faster by far than what follows.
    if (whole.length < shortest || endOfRuns(whole, runs, 0) === -1) return false
    const text = Array.from(whole)
    if (stretches.length === 1) return text.length === first.length && matchesAt(text, 0, first)
    if (text.length < shortest || !matchesAt(text, 0, first)) return false
    const end = text.length - last.length
    if (!matchesAt(text, end, last)) return false
    let at = first.length
    for (const search of middle) {
      at = search(text, at, end)
      if (at === -1) return false
    }
    return true
  }
}

const MAX_SHORT = 32

/**
 * A few short stretches, each an expression without repetition, as in search.ts, with any character
 * for `_`. `undefined` for more, and for half of a surrogate pair.
 */
function shortMatcher(stretches: readonly Stretch[]): TextTest | undefined {
  const isShort = stretches.every(({ length }) => length <= MAX_CLASSES)
  const isWellFormed = stretches.flat().every((char) => char?.isWellFormed() ?? true)
  if (stretches.length > MAX_SHORT || !isShort || !isWellFormed) return undefined
  const last = stretches.length - 1
  const searches = stretches.flatMap((stretch, i) => {
    if (stretch.length === 0 && last > 0) return []
    const classes = stretch.map((char) => (char === undefined ? '.' : classOf(char)))
    return [new RegExp(classes.join('') + (i === last ? '$' : ''), i === 0 ? 'suy' : 'sug')]
  })
  return (text) => {
    let at = 0
    for (const search of searches) {
      search.lastIndex = at
      if (!search.test(text)) return false
      at = search.lastIndex
    }
    return true
  }
}

/**
 * SQL's LIKE without regard to case: `%` stands for any text, `_` for one character, a backslash
 * makes the next character ordinary. Each stretch between two `%` is looked for once, from where
 * the one before ended, so the time grows with the length of the text, not with the number of `%`.
 */
export function likeMatcher(pattern: string): TextTest {
  const stretches = parsePattern(pattern)
  const short = shortMatcher(stretches)
  if (short) return short
  const isLiteral = stretches.every((stretch) => !stretch.includes(undefined))
  const test = isLiteral
    ? literalMatcher(stretches.map((stretch) => stretch.join('')))
    : wildMatcher(stretches)
  return (text) => test(fold(text))
}
