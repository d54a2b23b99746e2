import { joinSql, type Sql } from '../../src/filter/narrow.js'

/** SQL's spelling of the predicates of order. */
export const OPERATORS = { lt: '<', lteq: '<=', gt: '>', gteq: '>=' } as const

export const sql = (text: string, ...params: readonly unknown[]): Sql => ({ text, params })
export const orSql = (parts: readonly Sql[]): Sql => joinSql(parts, 'OR')
export const andSql = (parts: readonly Sql[]): Sql => joinSql(parts, 'AND')

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

// A longer pattern narrows no better; SQLite refuses patterns beyond 50,000 bytes.
const MAX_LIKE = 60

export type TextTest = 'cont' | 'start' | 'end' | 'matches'

interface LikePattern {
  readonly text: string
  /** False where it lets more through than the predicate. */
  readonly exact: boolean
}

/** The characters of a text, or of a `matches` pattern, each as it stands in a pattern. */
function patternParts(test: TextTest, text: string): string[] {
  if (test !== 'matches') return Array.from(text, (char) => `\\${char}`)
  return text.match(/\\[^]|[^]/gu) ?? []
}

/**
 * A LIKE pattern equal to the predicate's or weaker: SQLite folds ASCII only, so a character that
 * another one folds to is left open as `_`. Beyond ASCII that may be any; within it, only `k` has
 * such a relative (U+212A, the Kelvin sign).
 */
function likePattern(test: TextTest, text: string): LikePattern {
  const parts = patternParts(test, text)
  const kept = test === 'end' ? parts.slice(-MAX_LIKE) : parts.slice(0, MAX_LIKE)
  let exact = kept.length === parts.length
  const open = kept.map((part) => {
    if (part === '%' || part === '_') return part
    const char = part.length > 1 && part.startsWith('\\') ? part.slice(1) : part
    if (char <= '\x7f' && char !== 'k' && char !== 'K')
      return char === '%' || char === '_' || char === '\\' ? `\\${char}` : char
    exact = false
    return '_'
  })
  const before = test === 'cont' || test === 'end' ? '%' : ''
  const after = test === 'cont' || test === 'start' || (test === 'matches' && !exact) ? '%' : ''
  return { text: before + open.join('') + after, exact }
}

export function like(column: Sql, test: TextTest, text: string): Sql {
  return sql(`${column.text} LIKE ? ESCAPE '\\'`, ...column.params, likePattern(test, text).text)
}

/** That a text does not pass the test; `undefined` where LIKE cannot say that for certain. */
export function notLike(column: Sql, test: TextTest, text: string): Sql | undefined {
  const pattern = likePattern(test, text)
  if (!pattern.exact) return undefined
  return sql(`${column.text} NOT LIKE ? ESCAPE '\\'`, ...column.params, pattern.text)
}
