import type { TextTest } from '../../../src/filter/predicates.js'
import { andSql, sql, type Sql } from '../../../src/store-kit/sql.js'
import { spellings } from '../../../src/filter/values.js'

export { andSql, OPERATORS, orSql, sql } from '../../../src/store-kit/sql.js'

/** True where the other is false or NULL. */
export const notSql = ({ text, params }: Sql): Sql => ({ text: `(${text}) IS NOT TRUE`, params })

/** A column compared to one value. */
export const compare = (column: Sql, operator: string, value: unknown): Sql =>
  sql(`${column.text} ${operator} ?`, ...column.params, value)

// A longer list goes as one JSON array, so that it does not run into SQLite's limits.
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

/** One character of a pattern as LIKE has it and as GLOB has it. */
interface Piece {
  readonly like: string
  readonly glob: string
  /** False where LIKE lets more through than the predicate. */
  readonly isLike: boolean
}

const MANY: Piece = { like: '%', glob: '*', isLike: true }
const ONE: Piece = { like: '_', glob: '?', isLike: true }

/**
 * GLOB knows no cases: a class holds all spellings of the character. LIKE knows those of ASCII only
 * and leaves other characters open; of ASCII itself this is `k`, which U+212A folds to.
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

/** A character of a `matches` pattern, or a backslash and the one that it escapes. */
const matchesPiece = (part: string): Piece =>
  WILDCARDS.get(part) ?? literal(part.replace(/^\\([^])/u, '$1'))

// A longer pattern narrows hardly better. SQLite needs the product of pattern and text for a hostile
// one, and refuses those beyond 50,000 bytes.
const MAX_PIECES = 100

// LIKE and GLOB read U+FFFE and U+FFFF as U+FFFD.
const READ_AS_ONE = /[\uFFFD-\uFFFF]/

interface Pattern {
  readonly like: string
  readonly glob: string
  /** False where the patterns let more through than the predicate. */
  readonly isExact: boolean
  /** LIKE says all that GLOB can; it is faster. */
  readonly isLike: boolean
}

function patternOf(test: TextTest, text: string): Pattern {
  const isMatches = test === 'matches'
  const parts = isMatches ? (text.match(/\\?[^]/gu) ?? []) : Array.from(text)
  const cut = test === 'end' ? parts.slice(-MAX_PIECES) : parts.slice(0, MAX_PIECES)
  const isExact = cut.length === parts.length && !READ_AS_ONE.test(text)
  const kept = cut.map(isMatches ? matchesPiece : literal)
  if (test === 'cont' || test === 'end') kept.unshift(MANY)
  if (test === 'cont' || test === 'start' || (isMatches && !isExact)) kept.push(MANY)
  return {
    like: kept.map((piece) => piece.like).join(''),
    glob: kept.map((piece) => piece.glob).join(''),
    isExact,
    isLike: kept.every((piece) => piece.isLike),
  }
}

function matchesPattern(column: Sql, { like, glob, isLike }: Pattern): Sql {
  const byLike = sql(`${column.text} LIKE ? ESCAPE '\\'`, ...column.params, like)
  return isLike ? byLike : andSql([byLike, compare(column, 'GLOB', glob)])
}

/** That a text passes the test, or may pass it. */
export const like = (column: Sql, test: TextTest, text: string): Sql =>
  matchesPattern(column, patternOf(test, text))

/** That a text passes the test for certain; `undefined` where SQL cannot say that. */
export function exactLike(column: Sql, test: TextTest, text: string): Sql | undefined {
  const pattern = patternOf(test, text)
  return pattern.isExact ? matchesPattern(column, pattern) : undefined
}

/** That a text does not pass the test; `undefined` where SQL cannot say that for certain. */
export function notLike(column: Sql, test: TextTest, text: string): Sql | undefined {
  const exact = exactLike(column, test, text)
  return exact && sql(`NOT (${exact.text})`, ...exact.params)
}
