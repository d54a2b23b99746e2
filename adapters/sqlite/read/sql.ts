import type { TextTest } from '../../../src/filter/predicates.js'
import { andSql, sql, type Sql } from '../../../src/store-kit/sql.js'
import { spellings } from '../../../src/filter/values.js'

export { andSql, OPERATORS, orSql, sql } from '../../../src/store-kit/sql.js'

/** True if the operand is false or NULL. */
export const notSql = ({ text, params }: Sql): Sql => ({ text: `(${text}) IS NOT TRUE`, params })

/** A column compared to one value. */
export const compare = (column: Sql, operator: string, value: unknown): Sql =>
  sql(`${column.text} ${operator} ?`, ...column.params, value)

// A longer list is passed as one JSON array because of SQLite's limit on parameters.
const MAX_INLINE_LIST = 20

export function inList(column: Sql, values: readonly unknown[], not = ''): Sql {
  const params = [...column.params]
  if (values.length > MAX_INLINE_LIST) {
    const text = `${column.text} ${not} IN (SELECT value FROM json_each(?))`
    return { text, params: [...params, JSON.stringify(values)] }
  }
  const marks = values.map(() => '?').join(', ')
  return { text: `${column.text} ${not} IN (${marks})`, params: [...params, ...values] }
}

/** One character of a pattern, for LIKE and for GLOB. */
interface Piece {
  readonly like: string
  readonly glob: string
  /** False if the LIKE pattern matches more than the predicate. */
  readonly isLike: boolean
}

const MANY: Piece = { like: '%', glob: '*', isLike: true }
const ONE: Piece = { like: '_', glob: '?', isLike: true }

/**
 * GLOB is case-sensitive, so the pattern has a class of all spellings of the character. LIKE folds the
 * case of ASCII only, so other characters become `_`; so does `k`, as U+212A folds to it.
 */
function literal(char: string): Piece {
  const all = spellings(char)
  const isLike = all === char || Array.from(all).every((spelling) => spelling < '\x80')
  return {
    like: isLike ? char.replace(/[%_\\]/, '\\$&') : '_',
    glob: all === char ? char.replace(/[*?[]/, '[$&]') : `[${all}]`,
    isLike,
  }
}

const WILDCARDS: ReadonlyMap<string, Piece> = new Map([
  ['%', MANY],
  ['_', ONE],
])

/** Takes a character of a `matches` pattern, or a backslash with the character that it escapes. */
const matchesPiece = (part: string): Piece =>
  WILDCARDS.get(part) ?? literal(part.replace(/^\\([^])/u, '$1'))

// Longer patterns hardly exclude more. A hostile pattern takes time proportional to the product of the
// lengths of pattern and text, and SQLite refuses patterns of more than 50,000 bytes.
const MAX_PIECES = 100

// LIKE and GLOB read U+FFFE and U+FFFF as U+FFFD.
const AMBIGUOUS = /[\uFFFD-\uFFFF]/

interface Pattern {
  readonly like: string
  readonly glob: string
  /** False if the patterns match more than the predicate. */
  readonly isExact: boolean
  /** True if LIKE, which is faster, matches the same texts as GLOB. */
  readonly isLike: boolean
}

function patternOf(test: TextTest, text: string): Pattern {
  const isMatches = test === 'matches'
  const parts = isMatches ? (text.match(/\\?[^]/gu) ?? []) : Array.from(text)
  const cut = test === 'end' ? parts.slice(-MAX_PIECES) : parts.slice(0, MAX_PIECES)
  const isExact = cut.length === parts.length && !AMBIGUOUS.test(text)
  const pieces = cut.map(isMatches ? matchesPiece : literal)
  if (test === 'cont' || test === 'end') pieces.unshift(MANY)
  if (test === 'cont' || test === 'start' || (isMatches && !isExact)) pieces.push(MANY)
  return {
    like: pieces.map((piece) => piece.like).join(''),
    glob: pieces.map((piece) => piece.glob).join(''),
    isExact,
    isLike: pieces.every((piece) => piece.isLike),
  }
}

function matchesPattern(column: Sql, { like, glob, isLike }: Pattern): Sql {
  const byLike = sql(`${column.text} LIKE ? ESCAPE '\\'`, ...column.params, like)
  return isLike ? byLike : andSql([byLike, compare(column, 'GLOB', glob)])
}

/** SQL that is true for all texts that pass the test, perhaps also for others. */
export const like = (column: Sql, test: TextTest, text: string): Sql =>
  matchesPattern(column, patternOf(test, text))

/** SQL that is true exactly for the texts that pass the test; `undefined` if SQL cannot decide that. */
export function exactLike(column: Sql, test: TextTest, text: string): Sql | undefined {
  const pattern = patternOf(test, text)
  return pattern.isExact ? matchesPattern(column, pattern) : undefined
}

/** SQL that is true exactly for the texts that fail the test; `undefined` if SQL cannot decide that. */
export function notLike(column: Sql, test: TextTest, text: string): Sql | undefined {
  const exact = exactLike(column, test, text)
  return exact && sql(`NOT (${exact.text})`, ...exact.params)
}
