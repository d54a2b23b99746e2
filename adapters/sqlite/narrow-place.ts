import type { Sql } from '../../src/filter/narrow.js'
import type { Predicate } from '../../src/filter/predicates.js'
import { readBoolean, readNumber } from '../../src/filter/values.js'
import { andSql, inList, like, notLike, OPERATORS, orSql, sql } from './sql.js'

/** A place in an event, as SQL gives its value and the name of its JSON type. */
export interface Place {
  readonly value: Sql
  readonly type: Sql
}

export const atPath = (path: string): Place => ({
  value: sql('json_extract(attributes, ?)', path),
  type: sql('json_type(attributes, ?)', path),
})

/** An element, within `json_each`. */
export const ELEMENT: Place = { value: sql('value'), type: sql('type') }

export const typeIs = ({ type }: Place, ...names: readonly string[]): Sql => inList(type, names)
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
      // json_extract gives 0 and 1 for booleans too, of which `01` says nothing.
      const isNumberOnly = (n: number | undefined): boolean =>
        Number.isSafeInteger(n) && n !== 0 && n !== 1
      const numbers = values.map(readNumber).filter(isNumberOnly)
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
export function narrowPlace(
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
