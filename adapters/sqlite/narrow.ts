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

type TextTest = 'cont' | 'start' | 'end' | 'matches'

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

function like(column: Sql, test: TextTest, text: string): Sql {
  return sql(`${column.text} LIKE ? ESCAPE '\\'`, ...column.params, likePattern(test, text).text)
}

/** That a text does not pass the test; `undefined` where LIKE cannot say that for certain. */
function notLike(column: Sql, test: TextTest, text: string): Sql | undefined {
  const pattern = likePattern(test, text)
  if (!pattern.exact) return undefined
  return sql(`${column.text} NOT LIKE ? ESCAPE '\\'`, ...column.params, pattern.text)
}

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
    case 'matches':
      if (field === 'created_at' || field === 'system') return undefined
      return negated ? notLike(column, test, first) : like(column, test, first)
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
  /** The paths of keys that spell its beginning: an array of objects there may hold the rest. */
  readonly partial: readonly string[]
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
  return { full: at(parts.length), partial: parts.slice(1).flatMap((_, i) => at(i + 1)) }
}

/** A place in an event, as SQL gives its value and the name of its JSON type. */
interface Place {
  readonly value: Sql
  readonly type: Sql
}

const atPath = (path: string): Place => ({
  value: sql('json_extract(attributes, ?)', path),
  type: sql('json_type(attributes, ?)', path),
})

/** An element, within `json_each`. */
const ELEMENT: Place = { value: sql('value'), type: sql('type') }

const typeIs = ({ type }: Place, ...names: readonly string[]): Sql => inList(type, names)
const typeIsNot = ({ type }: Place, ...names: readonly string[]): Sql => inList(type, names, 'NOT')

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

const CONTAINERS = ['object', 'array']

/** "There is a value, and all fail": a value is asked for that does not pass for certain. */
function narrowNegated(place: Place, predicate: Predicate, values: readonly string[]): Sql {
  const { test } = predicate
  const [first = ''] = values
  const isScalar = typeIsNot(place, 'null', ...CONTAINERS)
  switch (test) {
    case 'eq':
    case 'in': {
      const numbers = values.map(readNumber).filter(Number.isSafeInteger)
      return andSql([isScalar, inList(place.value, [...values, ...numbers], 'NOT')])
    }
    case 'cont':
    case 'start':
    case 'end':
    case 'matches': {
      const fails = notLike(place.value, test, first)
      const isText = typeIs(place, 'text')
      return fails ? andSql([isText, fails]) : isText
    }
    case 'true':
    case 'false':
      return andSql([isScalar, typeIsNot(place, test)])
    case 'blank':
      return andSql([
        typeIsNot(place, 'null'),
        sql(`${place.value.text} <> ''`, ...place.value.params),
      ])
    default:
      return typeIsNot(place, 'null')
  }
}

/** The test of what stands at one place; `undefined` where SQL cannot tell. */
function narrowPlace(
  place: Place,
  predicate: Predicate,
  values: readonly string[],
): Sql | undefined {
  const { test, negated } = predicate
  const [first = ''] = values
  if (negated) return narrowNegated(place, predicate, values)
  switch (test) {
    case 'eq':
    case 'in':
      return andSql([typeIsNot(place, ...CONTAINERS), equalsAny(place.value, values)])
    case 'lt':
    case 'lteq':
    case 'gt':
    case 'gteq':
      return andSql([typeIsNot(place, ...CONTAINERS), compares(place.value, test, first)])
    case 'cont':
    case 'start':
    case 'end':
    case 'matches':
      return andSql([typeIs(place, 'text'), like(place.value, test, first)])
    case 'true':
    case 'false':
      return typeIs(place, test)
    default:
      return undefined
  }
}

/** The scalar at the path, or the elements of the array there. */
function narrowPath(path: string, predicate: Predicate, values: readonly string[]): Sql[] {
  const place = atPath(path)
  const scalar = narrowPlace(place, predicate, values)
  const isArray = typeIs(place, 'array')
  // An object or array that is not empty makes an attribute present, whatever it holds.
  const isPresence = predicate.test === 'null' || predicate.test === 'blank'
  if (!scalar || isPresence) return scalar ? [scalar, isArray] : [isArray]
  return [scalar, andSql([isArray, narrowElements(path, predicate, values)])]
}

/** An array where the name ends holds its elements as values; arrays within are left open. */
function narrowElements(path: string, predicate: Predicate, values: readonly string[]): Sql {
  const test = narrowPlace(ELEMENT, predicate, values)
  const open = typeIs(ELEMENT, 'array')
  const passes = test ? orSql([open, test]) : open
  return sql(
    `EXISTS (SELECT 1 FROM json_each(attributes, ?) WHERE ${passes.text})`,
    path,
    ...passes.params,
  )
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
  const narrowed = orSql([
    ...paths.full.flatMap((path) => narrowPath(path, predicate, values)),
    ...paths.partial.map((path) => typeIs(atPath(path), 'array')),
  ])
  return bytes ? andSql([bytes, narrowed]) : narrowed
}
