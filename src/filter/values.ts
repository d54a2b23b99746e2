import { compareDecimals, decimalOf } from '../event/exact-numbers.js'

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE'])
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE'])

const isAsciiSpace = (unit: number): boolean => unit === 0x20 || (unit >= 0x09 && unit <= 0x0d)

/**
 * Removes ASCII white space from both ends. A regular expression anchored at the end would take
 * quadratic time on inner white space.
 */
export function trimAscii(text: string): string {
  let [from, to] = [0, text.length]
  while (from < to && isAsciiSpace(text.charCodeAt(from))) from++
  while (to > from && isAsciiSpace(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}

export const lowerAscii = (text: string): string =>
  text.replaceAll(/[A-Z]+/g, (capitals) => capitals.toLowerCase())

/**
 * Reads a decimal number with sign, leading zeros and exponent: `007` is 7, `1e3` is 1000. Ignores
 * white space around it, as SQL casts do.
 */
export function readNumber(text: string): number | undefined {
  const trimmed = trimAscii(text)
  return NUMBER.test(trimmed) ? Number(trimmed) : undefined
}

/**
 * True for the text of a number. In an attribute that is declared as numbers, a text stands for a number that no
 * double prints.
 */
export const isNumberText = (value: unknown): value is string =>
  typeof value === 'string' && readNumber(value) !== undefined

/** A number in a query, whose own decimal may lie between two doubles. */
export interface NearestDouble {
  readonly double: number
  /**
   * Negative if the number is less than the shortest decimal of the double. A stored double stands for that decimal.
   */
  readonly side: number
}

/** Like {@link readNumber}, with the side of the double on which the number is. */
export function readNearest(text: string): NearestDouble | undefined {
  const double = readNumber(text)
  if (double === undefined) return undefined
  if (Number.isSafeInteger(double) && String(double) === text) return { double, side: 0 }
  const side = Number.isFinite(double)
    ? compareDecimals(decimalOf(trimAscii(text)), decimalOf(String(double)))
    : -Math.sign(double)
  return { double, side }
}

/** The double that equals the number; `undefined` if there is none. */
export function readExact(text: string): number | undefined {
  const nearest = readNearest(text)
  return nearest?.side === 0 ? nearest.double : undefined
}

export function readBoolean(text: string): boolean | undefined {
  if (TRUE.has(text)) return true
  return FALSE.has(text) ? false : undefined
}

/** True for a value of a flag that inverts its predicate. */
export function inverts(text: string): boolean {
  return FALSE.has(text)
}

const BLANK = /^\p{White_Space}*$/u

export function isBlank(text: string): boolean {
  const unit = text.charCodeAt(0)
  return !(unit > 0x20 && unit < 0x7f) && BLANK.test(text)
}

// Lowering a text differs from lowering its code points only for a capital sigma at the end of a word
// and for the dotted capital I, which becomes two code points.
const CONTEXTUAL = /[\u0130\u03A3]/u
const [CAPITAL_SIGMA, SMALL_SIGMA, DOTTED_CAPITAL_I] = ['\u03A3', '\u03C3', '\u0130']

/** Folds case: lowers each code point on its own, if the result is one code point. */
export function fold(text: string): string {
  const lower = text.toLowerCase()
  if (lower === text || !CONTEXTUAL.test(text)) return lower
  return text
    .split(CAPITAL_SIGMA)
    .join(SMALL_SIGMA)
    .split(DOTTED_CAPITAL_I)
    .map((part) => part.toLowerCase())
    .join(DOTTED_CAPITAL_I)
}

// No higher code point has two cases.
const END_OF_CASES = 0x20000

/** Code points that are lowered at once. Most ranges have no capitals, so this takes less than half of the time. */
const RANGE = 256

const CODE_POINTS = Array.from({ length: RANGE }, (_, i) => i)

/** The characters that fold to another character, by that character. */
let capitals: Map<string, string> | undefined

function findCapitals(): Map<string, string> {
  const found = new Map<string, string>()
  for (let from = 0; from < END_OF_CASES; from += RANGE) {
    const chars = String.fromCodePoint(...CODE_POINTS.map((i) => from + i))
    if (chars.toLowerCase() === chars) continue
    for (const char of chars) {
      const folded = fold(char)
      if (folded !== char) found.set(folded, (found.get(folded) ?? '') + char)
    }
  }
  return found
}

const LAST_ASCII = '\u007F'

/** The only other character that folds to an ASCII one. */
const KELVIN_SIGN = '\u212A'

/** All characters with the same fold, such as `k`, `K` and U+212A. */
export function spellings(char: string): string {
  const folded = fold(char)
  // Most texts are ASCII, and need no search for capitals, which takes milliseconds.
  if (folded <= LAST_ASCII) {
    const upper = folded.toUpperCase()
    return (upper === folded ? folded : folded + upper) + (folded === 'k' ? KELVIN_SIGN : '')
  }
  capitals ??= findCapitals()
  return folded + (capitals.get(folded) ?? '')
}

// UTF-16 puts surrogates (U+10000 and up) below U+E000..U+FFFF; code point order puts them above.
const codePointRank = (unit: number): number =>
  unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit

/** Sizes in UTF-16 units of the pieces of {@link equalStart}. */
const PIECES = [4096, 1024, 256, 64]

/**
 * Number of UTF-16 units at the start that are equal in both texts, in whole pieces. Comparing pieces natively is
 * many times as fast as comparing units.
 */
function equalStart(left: string, right: string, length: number): number {
  let from = 0
  for (const piece of PIECES)
    for (let to = from + piece; to <= length; to += piece) {
      if (left.slice(from, to) !== right.slice(from, to)) break
      from = to
    }
  return from
}

const MAX_SHORT = 128

/** Compares by code point, like UTF-8 bytes in SQLite (BINARY) and Postgres (C). */
export function compareText(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  const from = length > MAX_SHORT ? equalStart(left, right, length) : 0
  for (let i = from; i < length; i++) {
    const [a, b] = [left.charCodeAt(i), right.charCodeAt(i)]
    if (a !== b) return codePointRank(a) - codePointRank(b)
  }
  return left.length - right.length
}
