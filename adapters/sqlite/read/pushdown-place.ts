import type { Sql } from '../../../src/store-kit/sql.js'
import { isTextTest, type Predicate, type TextTest } from '../../../src/filter/predicates.js'
import { readBoolean, readExact, readNumber } from '../../../src/filter/values.js'
import { andSql, compare, exactLike, inList, like, notSql, OPERATORS, orSql, sql } from './sql.js'

/** A place in the attributes: SQL for its value and for the name of its JSON type. */
export interface Place {
  readonly value: Sql
  readonly type: Sql
}

export const atPath = (path: string): Place => ({
  value: sql('json_extract(attributes, ?)', path),
  type: sql('json_type(attributes, ?)', path),
})

/** A row of `json_tree`. */
export const IN_TREE: Place = { value: sql('atom'), type: sql('type') }

const NUMBERS = ['integer', 'real']
const BOOLEANS = ['true', 'false']
const CONTAINERS = ['object', 'array']

const typeIs = ({ type }: Place, ...names: readonly string[]): Sql => inList(type, names)
const typeIsNot = ({ type }: Place, ...names: readonly string[]): Sql => inList(type, names, 'NOT')
const isScalar = (place: Place): Sql => typeIsNot(place, 'null', ...CONTAINERS)
const isEmpty = (place: Place): Sql =>
  andSql([typeIs(place, ...CONTAINERS), inList(place.value, ['{}', '[]'])])

/** True for a value that is not null, and for an object or array that is not empty. */
export const isPresent = (place: Place): Sql =>
  andSql([typeIsNot(place, 'null'), notSql(isEmpty(place))])
export const isEmptyText = ({ value }: Place): Sql => compare(value, '=', '')
export const isFilled = (place: Place): Sql => andSql([isScalar(place), notSql(isEmptyText(place))])

/** SQL for a test of the value at a place. */
interface ValueTestSql {
  /** True for all values that pass, perhaps also for others. */
  readonly mayPass: Sql
  /** True only for values that pass; `undefined` if SQL cannot be certain. */
  readonly passes: Sql | undefined
}

// SQLite may read the last digit of a decimal differently from IEEE rounding.
const near = (value: number, sign: 1 | -1): number =>
  value + sign * (Math.abs(value) * 1e-9 + Number.MIN_VALUE)

function isAmong(place: Place, texts: readonly string[]): ValueTestSql {
  const { value } = place
  const numbers = texts.map(readNumber).filter((number) => number !== undefined)
  const integers = inList(value, numbers.filter(Number.isSafeInteger))
  const exact = inList(value, texts.map(readExact).filter(Number.isSafeInteger))
  const booleans = texts.map(readBoolean).filter((boolean) => boolean !== undefined)
  const known = [
    andSql([inList(value, texts), typeIs(place, 'text')]),
    typeIs(place, ...new Set(booleans.map(String))),
  ]
  const ranges = numbers
    .filter((number) => !Number.isSafeInteger(number))
    .map((number) =>
      sql(`${value.text} BETWEEN ? AND ?`, ...value.params, near(number, -1), near(number, 1)),
    )
  return {
    mayPass: orSql([...known, andSql([orSql([integers, ...ranges]), typeIs(place, ...NUMBERS)])]),
    passes: orSql([...known, andSql([exact, typeIs(place, 'integer')])]),
  }
}

function isOrdered(place: Place, test: keyof typeof OPERATORS, text: string): ValueTestSql {
  const operator = OPERATORS[test]
  const { value } = place
  const number = readNumber(text)
  const boolean = readBoolean(text)
  const isInteger = Number.isSafeInteger(readExact(text))
  const passes = [andSql([compare(value, operator, text), typeIs(place, 'text')])]
  if (isInteger) passes.push(andSql([compare(value, operator, number), typeIs(place, 'integer')]))
  if (boolean !== undefined)
    passes.push(andSql([compare(value, operator, Number(boolean)), typeIs(place, ...BOOLEANS)]))
  const mayPass = [...passes]
  if (number !== undefined)
    mayPass.push(
      andSql([
        compare(value, operator, near(number, operator.startsWith('<') ? 1 : -1)),
        isInteger ? typeIs(place, 'real') : typeIs(place, ...NUMBERS),
      ]),
    )
  return { mayPass: orSql(mayPass), passes: orSql(passes) }
}

function hasText(place: Place, test: TextTest, text: string): ValueTestSql {
  const isText = typeIs(place, 'text')
  const exact = exactLike(place.value, test, text)
  return {
    mayPass: andSql([like(place.value, test, text), isText]),
    passes: exact && andSql([exact, isText]),
  }
}

type ValueTest = Exclude<Predicate['test'], 'null' | 'blank'>

/** SQL for the test of the value at one place. */
function valueTestSql(place: Place, test: ValueTest, values: readonly string[]): ValueTestSql {
  const [first = ''] = values
  switch (test) {
    case 'eq':
    case 'in':
      return isAmong(place, values)
    case 'lt':
    case 'lteq':
    case 'gt':
    case 'gteq':
      return isOrdered(place, test, first)
    case 'cont':
    case 'start':
    case 'end':
    case 'matches':
      return hasText(place, test, first)
    case 'true':
    case 'false':
      return { mayPass: typeIs(place, test), passes: typeIs(place, test) }
  }
}

/** SQL that is true for all values that fail the test, perhaps also for others. */
function mayFail(place: Place, test: ValueTest, values: readonly string[]): Sql {
  const { passes } = valueTestSql(place, test, values)
  const applies = isTextTest(test) ? typeIs(place, 'text') : isScalar(place)
  return passes ? andSql([applies, notSql(passes)]) : applies
}

/**
 * Pushes a predicate down to one of the places of an attribute; `undefined` if the predicate depends on
 * all places.
 */
export function pushDownPlace(
  place: Place,
  predicate: Predicate,
  values: readonly string[],
): Sql | undefined {
  const { test, negated } = predicate
  if (test === 'null' || test === 'blank') {
    if (!negated) return undefined
    const isNotNull = typeIsNot(place, 'null')
    return test === 'null' ? isNotNull : andSql([isNotNull, notSql(isEmptyText(place))])
  }
  return negated ? mayFail(place, test, values) : valueTestSql(place, test, values).mayPass
}
