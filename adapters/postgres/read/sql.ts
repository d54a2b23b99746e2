import type { TextTest } from '../../../src/filter/predicates.js'
import { andSql, type Sql } from '../../../src/store-kit/sql.js'
import { spellings } from '../../../src/filter/values.js'

export { numbered } from '../../../src/store-kit/sql.js'

/** The conjunction of the parts that are defined; at least one must be. */
export const allOf = (...parts: readonly (Sql | undefined)[]): Sql =>
  andSql(parts.filter((part) => part !== undefined))

// A longer pattern rules out hardly more rows, and costs more to compile than it saves.
const MAX_PIECES = 200

/** A class of all spellings of the character; only letters, which need no escape in it, have several. */
function literal(char: string): string {
  const all = spellings(char)
  return all === char ? escaped(char) : `[${all}]`
}

const escaped = (text: string): string => text.replaceAll(/[!-/:-@[-`{-~]/g, String.raw`\$&`)

/** A regular expression that matches any text with one of the texts. */
export const anyOf = (texts: readonly string[]): string => `***:${texts.map(escaped).join('|')}`

const ANY_TEXT = '.*'
const WILDCARDS: ReadonlyMap<string, string> = new Map([
  ['%', ANY_TEXT],
  ['_', '.'],
])

/** Each character of a pattern, with the backslash that escapes it. */
const PATTERN_PARTS = /\\?([^])/gu

function* matchesPieces(pattern: string): Generator<string> {
  for (const [whole, char] of pattern.matchAll(PATTERN_PARTS))
    yield WILDCARDS.get(whole) ?? literal(char!)
}

function* literals(chars: Iterable<string>): Generator<string> {
  for (const char of chars) yield literal(char)
}

/** The pieces without repeated `.*`, but of a longer list only one more than the maximum. */
function firstPieces(pieces: Iterable<string>): string[] {
  const first: string[] = []
  for (const piece of pieces) {
    if (piece !== ANY_TEXT || first.at(-1) !== ANY_TEXT) first.push(piece)
    if (first.length > MAX_PIECES) break
  }
  return first
}

export interface TextPattern {
  /** An advanced regular expression (https://www.postgresql.org/docs/current/functions-matching.html). */
  readonly regex: string
  /** False if it matches more than the predicate. */
  readonly isExact: boolean
}

/** Uses classes of spellings instead of ILIKE, whose case folding depends on the collation. */
export function textPattern(test: TextTest, text: string): TextPattern {
  const chars = test === 'end' ? Array.from(text).slice(-MAX_PIECES - 1) : text
  const pieces = firstPieces(test === 'matches' ? matchesPieces(text) : literals(chars))
  const kept = test === 'end' ? pieces.slice(-MAX_PIECES) : pieces.slice(0, MAX_PIECES)
  const isExact = kept.length === pieces.length
  const from = test === 'start' || test === 'matches' ? '^' : ''
  const to = test === 'end' || (test === 'matches' && isExact) ? '$' : ''
  return { regex: `***:${from}${kept.join('')}${to}`, isExact }
}

/** The longest text that everything the pattern matches contains. */
function longestRun(pattern: string): string {
  const runs = ['']
  for (const [whole, char] of pattern.matchAll(PATTERN_PARTS)) {
    if (WILDCARDS.has(whole)) runs.push('')
    else runs.push(runs.pop()! + char!)
  }
  return runs.reduce((longest, run) => (run.length > longest.length ? run : longest))
}

// Shorter texts occur nearly everywhere; longer ones are hardly rarer.
const MIN_FOUND = 3
const MAX_FOUND = 30

/**
 * A regular expression that matches the JSON text of every event with a value that passes, at a third of
 * the cost of parsing the JSON; `undefined` if it would rule out few events.
 */
export function jsonTextPattern(test: TextTest, text: string): string | undefined {
  const found = Array.from(test === 'matches' ? longestRun(text) : text).slice(0, MAX_FOUND)
  if (found.length < MIN_FOUND) return undefined
  // JSON.stringify wrote the texts; characters that it escapes have no other spellings.
  const escaped = JSON.stringify(found.join('')).slice(1, -1)
  return `***:${Array.from(escaped, literal).join('')}`
}
