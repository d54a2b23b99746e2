import type { TextTest } from '../../src/filter/predicates.js'
import type { Sql } from '../../src/filter/sql.js'
import { spellings } from '../../src/filter/values.js'

/** The text with `$1`, `$2` … where `?` stands outside of quoted names. */
export function numbered({ text }: Sql): string {
  let count = 0
  return text.replaceAll(/"(?:[^"]|"")*"|\?/g, (part) => (part === '?' ? `$${++count}` : part))
}

// A longer pattern narrows hardly better, and costs more to compile than it saves.
const MAX_PIECES = 200

/** All spellings of the character; what has several is a letter, which is nothing special in a class. */
function literal(char: string): string {
  const all = spellings(char)
  return all === char ? char.replace(/[!-/:-@[-`{-~]/, String.raw`\$&`) : `[${all}]`
}

const WILDCARDS: ReadonlyMap<string, string> = new Map([
  ['%', '.*'],
  ['_', '.'],
])

const matchesPieces = (pattern: string): string[] =>
  Array.from(
    pattern.matchAll(/\\?([^])/gu),
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
  const all = test === 'matches' ? matchesPieces(text) : Array.from(text, literal)
  const kept = test === 'end' ? all.slice(-MAX_PIECES) : all.slice(0, MAX_PIECES)
  const isExact = kept.length === all.length
  const from = test === 'start' || test === 'matches' ? '^' : ''
  const to = test === 'end' || (test === 'matches' && isExact) ? '$' : ''
  return { regex: `***:${from}${kept.join('')}${to}`, isExact }
}
