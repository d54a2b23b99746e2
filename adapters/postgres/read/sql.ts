import type { TextTest } from '../../../src/filter/predicates.js'
import { andSql, type Sql } from '../../../src/store-kit/sql.js'
import { spellings } from '../../../src/filter/values.js'

/** The text with `$1`, `$2` … where `?` stands outside of quoted names. */
export function numbered({ text }: Sql): string {
  let count = 0
  return text.replaceAll(/"(?:[^"]|"")*"|\?/g, (part) => (part === '?' ? `$${++count}` : part))
}

/** The parts that there are, of which there is one at least. */
export const allOf = (...parts: readonly (Sql | undefined)[]): Sql =>
  andSql(parts.filter((part) => part !== undefined))

// A longer pattern narrows hardly better, and costs more to compile than it saves.
const MAX_PIECES = 200

/** All spellings of the character; what has several is a letter, which is nothing special in a class. */
function literal(char: string): string {
  const all = spellings(char)
  return all === char ? char.replace(/[!-/:-@[-`{-~]/, String.raw`\$&`) : `[${all}]`
}

const ANY_TEXT = '.*'
const WILDCARDS: ReadonlyMap<string, string> = new Map([
  ['%', ANY_TEXT],
  ['_', '.'],
])

/** Each character of a pattern, with the backslash that makes it ordinary. */
const PATTERN_PARTS = /\\?([^])/gu

const matchesPieces = (pattern: string): string[] =>
  Array.from(
    pattern.matchAll(PATTERN_PARTS),
    ([whole, char]) => WILDCARDS.get(whole) ?? literal(char!),
  )

export interface TextPattern {
  /** An advanced regular expression (https://www.postgresql.org/docs/current/functions-matching.html). */
  readonly regex: string
  /** False where it lets more through than the predicate. */
  readonly isExact: boolean
}

/** ILIKE folds as its collation does: a class of a letter's spellings folds as we do. */
export function textPattern(test: TextTest, text: string): TextPattern {
  const pieces = test === 'matches' ? matchesPieces(text) : Array.from(text, literal)
  const all = pieces.filter((piece, i) => piece !== ANY_TEXT || pieces[i - 1] !== ANY_TEXT)
  const kept = test === 'end' ? all.slice(-MAX_PIECES) : all.slice(0, MAX_PIECES)
  const isExact = kept.length === all.length
  const from = test === 'start' || test === 'matches' ? '^' : ''
  const to = test === 'end' || (test === 'matches' && isExact) ? '$' : ''
  return { regex: `***:${from}${kept.join('')}${to}`, isExact }
}

/** The longest text that stands in all that a pattern matches. */
function longestRun(pattern: string): string {
  const runs = ['']
  for (const [whole, char] of pattern.matchAll(PATTERN_PARTS)) {
    if (WILDCARDS.has(whole)) runs.push('')
    else runs.push(runs.pop()! + char!)
  }
  return runs.reduce((longest, run) => (run.length > longest.length ? run : longest))
}

// Shorter texts are found nearly everywhere, longer ones hardly more rarely.
const MIN_FOUND = 3
const MAX_FOUND = 30

/**
 * A regular expression that finds something in the JSON text of all that has a text that passes, at
 * a third of the cost of reading the JSON; `undefined` where it would say little.
 */
export function jsonTextPattern(test: TextTest, text: string): string | undefined {
  const found = Array.from(test === 'matches' ? longestRun(text) : text).slice(0, MAX_FOUND)
  if (found.length < MIN_FOUND) return undefined
  // As JSON.stringify has written the texts; what it escapes has no other spellings.
  const escaped = JSON.stringify(found.join('')).slice(1, -1)
  return `***:${Array.from(escaped, literal).join('')}`
}
