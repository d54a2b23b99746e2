import { type FindText, textFinder } from './find-text.js'
import {
  characterClass,
  MAX_CHARACTER_CLASSES,
  type SlowMatcher,
  type TextMatcher,
} from './search.js'
import { finishSteps, type Steps } from './steps.js'
import { fold } from './values.js'

/** The characters between two `%` of a pattern; `undefined` stands for `_`. */
type Piece = readonly (string | undefined)[]

function parsePattern(pattern: string): Piece[] {
  const pieces: (string | undefined)[][] = [[]]
  let escaped = false
  for (const char of pattern) {
    const piece = pieces.at(-1)!
    if (escaped) {
      piece.push(fold(char))
      escaped = false
    } else if (char === '\\') escaped = true
    else if (char === '%') pieces.push([])
    else piece.push(char === '_' ? undefined : fold(char))
  }
  if (escaped) pieces.at(-1)!.push('\\')
  return pieces
}

/** Ordinary characters in a row. */
interface Run {
  readonly length: number
  readonly find: FindText
}

const runOf = (text: string): Run => ({ length: text.length, find: textFinder(text) })

/** Finds the runs one after the other and returns the end of the last one; -1 if one is missing. */
function endOfRuns(text: string, runs: readonly Run[], from: number): number {
  let at = from
  for (const { find, length } of runs) {
    const found = find(text, at)
    if (found === -1) return -1
    at = found + length
  }
  return at
}

/** For patterns without `_`: these can compare UTF-16 units instead of characters. */
function literalMatcher(pieces: readonly string[]): TextMatcher {
  const first = pieces[0]!
  if (pieces.length === 1) return (text) => text === first
  const last = pieces.at(-1)!
  const middle = pieces.slice(1, -1).filter(Boolean).map(runOf)
  return (text) => {
    if (text.length < first.length + last.length) return false
    if (!text.startsWith(first) || !text.endsWith(last)) return false
    const end = endOfRuns(text, middle, first.length)
    return end !== -1 && end <= text.length - last.length
  }
}

/** The runs of ordinary characters in order. Every match contains them. */
function runsOf(pieces: readonly Piece[]): Run[] {
  const marked = pieces.map((piece) => piece.map((char) => char ?? '\0').join(''))
  return marked.join('\0').split('\0').filter(Boolean).map(runOf)
}

/** Finds the first match of a piece between `from` and `end` and returns its end; -1 without a match. */
type Search = (text: readonly string[], from: number, end: number) => Steps<number>

/** Words of state between two points where a search may pause. */
const WORDS_PER_STEP = 1 << 16

/**
 * Shift-And (Baeza-Yates and Gonnet, "A new approach to text searching", 1992): one bit for each prefix
 * of the piece that matches up to the current character, so one step handles 32 characters of the
 * piece. Characters that are rare in a long piece use a list of their places instead of a mask, which
 * bounds the number of masks.
 */
function wildSearch(piece: Piece): Search {
  const words = Math.ceil(piece.length / 32)
  const maskOf = (places: readonly number[]): Int32Array => {
    const mask = new Int32Array(words)
    for (const place of places) mask[place >> 5]! |= 1 << (place & 31)
    return mask
  }
  const placesOf = new Map<string | undefined, number[]>()
  for (const [place, char] of piece.entries()) {
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

  const charsPerStep = Math.ceil(WORDS_PER_STEP / words)

  return function* (text, from, end) {
    const state = new Int32Array(words)
    for (let at = from; at < end; at++) {
      if (at % charsPerStep === 0) yield
      const char = text[at]!
      const mask = masks.get(char)
      const places = mask ? [] : (placesOf.get(char) ?? [])
      const passed = places.filter((place) => place === 0 || hasBit(state, place - 1))
      advance(state, mask ?? anyMask)
      for (const place of passed) state[place >> 5]! |= 1 << (place & 31)
      if (hasBit(state, piece.length - 1)) return at + 1
    }
    return -1
  }
}

/** Shifts all prefixes by one character, starts a new one, and keeps those that the mask allows. */
function advance(state: Int32Array, mask: Int32Array): void {
  let carry = 1
  for (let word = 0; word < state.length; word++) {
    const before = state[word]!
    state[word] = ((before << 1) | carry) & mask[word]!
    carry = before >>> 31
  }
}

const matchesAt = (text: readonly string[], at: number, piece: Piece): boolean =>
  piece.every((char, i) => char === undefined || char === text[at + i])

function wildMatcher(pieces: readonly Piece[]): SlowMatcher {
  const first = pieces[0]!
  const last = pieces.at(-1)!
  const middle = pieces
    .slice(1, -1)
    .filter((piece) => piece.length > 0)
    .map(wildSearch)
  const shortest = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const runs = runsOf(pieces)
  const longest = Math.max(...pieces.map((piece) => piece.length))
  function* steps(unfolded: string): Steps<boolean> {
    const whole = fold(unfolded)
    // Rejects most texts, much faster than the tests below.
    if (whole.length < shortest || endOfRuns(whole, runs, 0) === -1) return false
    yield
    const text = Array.from(whole)
    if (pieces.length === 1) return text.length === first.length && matchesAt(text, 0, first)
    if (text.length < shortest || !matchesAt(text, 0, first)) return false
    const end = text.length - last.length
    if (!matchesAt(text, end, last)) return false
    let at = first.length
    for (const search of middle) {
      at = yield* search(text, at, end)
      if (at === -1) return false
    }
    return true
  }
  return { factor: Math.ceil(longest / 32), steps }
}

const MAX_SHORT = 32

/**
 * Matches a few short pieces by regular expressions without repetition, as search.ts does; `_` is any
 * character. `undefined` for longer patterns and for half of a surrogate pair.
 */
function shortMatcher(pieces: readonly Piece[]): TextMatcher | undefined {
  const isShort = pieces.every(({ length }) => length <= MAX_CHARACTER_CLASSES)
  const isWellFormed = pieces.flat().every((char) => char?.isWellFormed() ?? true)
  if (pieces.length > MAX_SHORT || !isShort || !isWellFormed) return undefined
  const last = pieces.length - 1
  const searches = pieces.flatMap((piece, i) => {
    if (piece.length === 0 && last > 0) return []
    const classes = piece.map((char) => (char === undefined ? '.' : characterClass(char)))
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
 * SQL's LIKE, ignoring case: `%` matches any text, `_` one character, and a backslash makes the next
 * character ordinary. Each piece between two `%` is searched once, from the end of the piece before,
 * so the time grows with the length of the text and not with the number of `%`.
 */
export function likeMatcher(pattern: string): TextMatcher {
  const pieces = parsePattern(pattern)
  const short = shortMatcher(pieces)
  if (short) return short
  const isLiteral = pieces.every((piece) => !piece.includes(undefined))
  if (isLiteral) {
    const test = literalMatcher(pieces.map((piece) => piece.join('')))
    return (text) => test(fold(text))
  }
  const slow = wildMatcher(pieces)
  return Object.assign((text: string) => finishSteps(slow.steps(text)), { slow })
}
