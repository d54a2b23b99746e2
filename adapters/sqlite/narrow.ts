import { isOwnField, type OwnField } from '../../src/event.js'
import { parseEventId } from '../../src/event-id.js'
import { joinSql, type NarrowAttribute, type Sql } from '../../src/filter/narrow.js'
import type { Predicate } from '../../src/filter/predicates.js'
import { readBoolean, readNumber } from '../../src/filter/values.js'
import { parseTimestamp } from '../../src/timestamp.js'

const OPERATORS = { lt: '<', lteq: '<=', gt: '>', gteq: '>=' } as const

const sql = (text: string, ...params: readonly unknown[]): Sql => ({ text, params })
const orSql = (parts: readonly Sql[]): Sql => joinSql(parts, 'OR')
const andSql = (parts: readonly Sql[]): Sql => joinSql(parts, 'AND')

// A longer list goes as one JSON array, so that it does not run into SQLite's limits.
const MAX_INLINE_LIST = 20

function inList(column: Sql, values: readonly unknown[], not = ''): Sql {
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

/**
 * A LIKE pattern weaker than the predicate's: SQLite folds ASCII only, so every character that
 * another one folds to is left open as `_`. Beyond ASCII that may be any; within it, only `k` has
 * such a relative (U+212A, the Kelvin sign).
 */
function likePattern(test: 'cont' | 'start' | 'end', text: string): string {
  const chars = [...text]
  const kept = test === 'end' ? chars.slice(-MAX_LIKE) : chars.slice(0, MAX_LIKE)
  const open = kept.map((char) => {
    if (char > '\x7f' || char === 'k' || char === 'K') return '_'
    return char === '%' || char === '_' || char === '\\' ? `\\${char}` : char
  })
  return (test === 'start' ? '' : '%') + open.join('') + (test === 'end' ? '' : '%')
}

const like = (column: Sql, test: 'cont' | 'start' | 'end', text: string): Sql =>
  sql(`${column.text} LIKE ? ESCAPE '\\'`, ...column.params, likePattern(test, text))

function narrowOwn(
  field: OwnField,
  predicate: Predicate,
  values: readonly string[],
): Sql | undefined {
  const { test, negated } = predicate
  const not = negated ? 'NOT' : ''
  const [first = ''] = values
  if (field === 'id') {
    if (negated || (test !== 'eq' && test !== 'in')) return undefined
    // No column holds it: the times that ids carry, or that the side table knows.
    const times = values.flatMap((id) => parseEventId(id)?.time ?? [])
    const foreign = inList(sql('id'), values)
    return orSql([
      inList(sql('created_at'), times),
      sql(
        `created_at IN (SELECT created_at FROM daybook_foreign_ids WHERE ${foreign.text})`,
        ...foreign.params,
      ),
    ])
  }
  const column = sql(field)
  switch (test) {
    case 'eq':
    case 'in':
      return inList(
        column,
        values.map((value) => ownValue(field, value)),
        not,
      )
    case 'lt':
    case 'lteq':
    case 'gt':
    case 'gteq':
      return sql(`${field} ${OPERATORS[test]} ?`, ownValue(field, first))
    case 'true':
    case 'false':
      if (field !== 'system') return undefined
      return sql(`system = ?`, Number((test === 'true') !== negated))
    case 'null':
      return sql(`${field} IS ${not} NULL`)
    case 'blank':
      return negated ? sql(`${field} <> ''`) : sql(`coalesce(${field}, '') = ''`)
    case 'cont':
    case 'start':
    case 'end':
      return negated || field === 'created_at' ? undefined : like(column, test, first)
    case 'matches':
      return undefined
  }
}

function ownValue(field: OwnField, value: string): unknown {
  if (field === 'created_at') return parseTimestamp(value)
  return field === 'system' ? Number(readBoolean(value)) : value
}

// A name of n segments can be reached by 2^n paths and array places; beyond this they cost more
// than the predicate does.
const MAX_SEGMENTS = 4
const PATH_SAFE = /^[^"\\\p{Cc}]+$/u

interface Paths {
  /** The paths of keys that spell the whole name. */
  readonly full: readonly string[]
  /** Those, and the paths that spell its beginning: an array at any may hold more values. */
  readonly arrays: readonly string[]
}

function compositions(parts: readonly string[]): string[] {
  return parts.flatMap((_, at) => {
    const head = `."${parts.slice(0, at + 1).join('_')}"`
    const rest = parts.slice(at + 1)
    return rest.length === 0 ? [head] : compositions(rest).map((tail) => head + tail)
  })
}

function pathsOf(name: string): Paths | undefined {
  const parts = name.split('_')
  if (parts.length > MAX_SEGMENTS || !parts.every((part) => PATH_SAFE.test(part))) return undefined
  const at = (count: number): string[] =>
    compositions(parts.slice(0, count)).map((path) => `$${path}`)
  return { full: at(parts.length), arrays: parts.flatMap((_, i) => at(i + 1)) }
}

const extract = (path: string): Sql => sql('json_extract(attributes, ?)', path)
const isArray = (path: string): Sql => sql(`json_type(attributes, ?) = 'array'`, path)

// SQLite's reading of a decimal may differ from IEEE rounding in the last digit.
const near = (value: number, sign: 1 | -1): number =>
  Number.isSafeInteger(value) ? value : value + sign * (Math.abs(value) * 1e-9 + Number.MIN_VALUE)

function scalarsEqual(text: string): unknown[] {
  const boolean = readBoolean(text)
  return boolean === undefined ? [text] : [text, Number(boolean)]
}

/** Any of the texts, as text, number or boolean. */
function equalsAny(column: Sql, texts: readonly string[]): Sql {
  const numbers = texts.map(readNumber).filter((value) => value !== undefined)
  const exact = numbers.filter(Number.isSafeInteger)
  const ranges = numbers
    .filter((value) => !Number.isSafeInteger(value))
    .map((value) =>
      sql(`${column.text} BETWEEN ? AND ?`, ...column.params, near(value, -1), near(value, 1)),
    )
  return orSql([inList(column, [...texts.flatMap(scalarsEqual), ...exact]), ...ranges])
}

function compares(column: Sql, test: keyof typeof OPERATORS, text: string): Sql {
  const operator = OPERATORS[test]
  // SQLite puts numbers before texts, so each comparison names its type.
  const parts = [
    sql(
      `(typeof(${column.text}) = 'text' AND ${column.text} ${operator} ?)`,
      ...column.params,
      ...column.params,
      text,
    ),
  ]
  const number = readNumber(text)
  const boolean = readBoolean(text)
  const numeric = (value: number): Sql =>
    sql(
      `(typeof(${column.text}) <> 'text' AND ${column.text} ${operator[0]}= ?)`,
      ...column.params,
      ...column.params,
      value,
    )
  const sign = operator.startsWith('<') ? 1 : -1
  // What is no safe integer may lie beside a stored one that reads as the bound itself.
  if (number !== undefined) parts.push(numeric(near(number, sign)))
  if (boolean !== undefined) parts.push(numeric(Number(boolean)))
  return orSql(parts)
}

const hasValue = (column: Sql): Sql => sql(`${column.text} IS NOT NULL`, ...column.params)

/** The test of one path; `undefined` where SQL cannot tell. */
function narrowPath(column: Sql, predicate: Predicate, values: readonly string[]): Sql | undefined {
  const { test, negated } = predicate
  const [first = ''] = values
  if (negated) {
    // "There is a value, and all fail": SQL asks for the value, and that it is not the very text.
    if (test === 'eq' || test === 'in')
      return andSql([hasValue(column), inList(column, values, 'NOT')])
    return hasValue(column)
  }
  switch (test) {
    case 'eq':
    case 'in':
      return equalsAny(column, values)
    case 'lt':
    case 'lteq':
    case 'gt':
    case 'gteq':
      return compares(column, test, first)
    case 'cont':
    case 'start':
    case 'end':
      return like(column, test, first)
    case 'matches':
      return hasValue(column)
    case 'true':
    case 'false':
      return sql(`${column.text} = ?`, ...column.params, Number(test === 'true'))
    default:
      return undefined
  }
}

/** `null` and `blank` hold only where no path has what they rule out. */
function narrowAbsence(paths: Paths, test: 'null' | 'blank'): Sql {
  const empty = test === 'blank' ? ` OR json_extract(attributes, ?) = ''` : ''
  return andSql(
    paths.full.map((path) =>
      sql(
        `(json_extract(attributes, ?) IS NULL OR json_type(attributes, ?) IN ('object', 'array')${empty})`,
        ...(empty ? [path, path, path] : [path, path]),
      ),
    ),
  )
}

// JSON text keeps such a text as it is, so its bytes stand in the stored JSONB.
const VERBATIM = /^[^"\\\p{Cc}]+$/u

/** The event's bytes hold one of the texts, or the number that it reads as: cheap for any name. */
function holdsBytes(texts: readonly string[]): Sql | undefined {
  if (texts.length > 3) return undefined
  if (!texts.every((text) => VERBATIM.test(text) && readBoolean(text) === undefined))
    return undefined
  const needles = texts.flatMap((text) => {
    const number = readNumber(text)
    return number === undefined ? [text] : [text, JSON.stringify(number)]
  })
  return orSql(needles.map((needle) => sql('instr(attributes, CAST(? AS BLOB)) > 0', needle)))
}

/**
 * What SQLite can tell of an attribute. JSON paths stand for one spelling of a name, so all of its
 * spellings are asked, and an event with an array on the way is left to the predicate.
 */
export const narrowAttribute: NarrowAttribute = (attribute, predicate, values) => {
  if (isOwnField(attribute)) return narrowOwn(attribute, predicate, values)
  const { test, negated } = predicate
  const isEquality = !negated && (test === 'eq' || test === 'in')
  const bytes = isEquality ? holdsBytes(values) : undefined
  const paths = pathsOf(attribute)
  if (!paths) return bytes
  if (!negated && (test === 'null' || test === 'blank')) return narrowAbsence(paths, test)
  const onPaths = paths.full.map((path) => narrowPath(extract(path), predicate, values))
  if (onPaths.some((part) => part === undefined)) return bytes
  const narrowed = orSql([...(onPaths as Sql[]), ...paths.arrays.map(isArray)])
  return bytes ? andSql([bytes, narrowed]) : narrowed
}
