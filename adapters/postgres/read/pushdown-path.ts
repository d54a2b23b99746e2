import { decimalOf } from '../../../src/event/exact-numbers.js'
import { isTextTest, type Predicate } from '../../../src/filter/predicates.js'
import { OPERATORS, type Sql, sql } from '../../../src/store-kit/sql.js'
import { readBoolean, readNumber, trimAscii } from '../../../src/filter/values.js'
import { textPattern } from './sql.js'

/*
 * A predicate on an attribute as an SQL/JSON path, in lax mode
 * (https://www.postgresql.org/docs/current/functions-json.html#FUNCTIONS-SQLJSON-PATH): members and
 * filters unwrap an array into its elements, as the walk of a name does. They unwrap one level only, so
 * events with arrays in arrays always pass.
 */

// A name can be split into keys in 2 ** (parts - 1) ways. For longer names only the predicate tests.
const MAX_PARTS = 8
const MAX_NAME = 1000
const MAX_PATH = 40_000

const member = (key: string): string => `@.${JSON.stringify(key)}`

/** A path that holds if `leaf` holds at one of the places that the parts of a name lead to as keys. */
function somewhere(parts: readonly string[], leaf: (place: string) => string): string {
  const splits = parts.map((_, i) => {
    const place = member(parts.slice(0, i + 1).join('_'))
    const rest = parts.slice(i + 1)
    return rest.length === 0 ? leaf(place) : `exists(${place} ? (${somewhere(rest, leaf)}))`
  })
  return splits.join(' || ')
}

const hasNestedArrays = (parts: readonly string[]): string =>
  parts
    .map((_, i) => member(parts.slice(0, i + 1).join('_')))
    .map((head) => `exists(${head}.** ? (@.type() == "array"))`)
    .join(' || ')

const IS_VALUE = '@.type() != "null" && @.type() != "object"'
const IS_NO_TEXT = '@.type() == "number" || @.type() == "boolean"'

const isPresentAt = (place: string): string =>
  `${place}.type() == "array" && ${place}.size() > 0
    || exists(${place} ? (exists(@.*) || ${IS_VALUE}))`

type ValueTest = Exclude<Predicate['test'], 'null' | 'blank'>

/** The test of one value; for values of other types it is unknown, which counts as false. */
function passes(test: ValueTest, values: readonly string[]): string {
  switch (test) {
    case 'eq':
    case 'in':
      return '@ == $v'
    case 'true':
    case 'false':
      return `@ == ${test}`
    case 'cont':
    case 'start':
    case 'end':
    case 'matches': {
      const { regex } = textPattern(test, values[0]!)
      return `@ like_regex ${JSON.stringify(regex)} flag "s"`
    }
    default:
      return `@ ${OPERATORS[test]} $v`
  }
}

/** Holds for a value that fails the negated predicate. */
function refutes(test: ValueTest, values: readonly string[]): string {
  if (!isTextTest(test)) return passes(test, values)
  const { isExact } = textPattern(test, values[0]!)
  return isExact ? `${IS_NO_TEXT} || ${passes(test, values)}` : IS_NO_TEXT
}

function holds(
  parts: readonly string[],
  { test, negated }: Predicate,
  values: readonly string[],
): string {
  const some = (test: string): string =>
    `(${somewhere(parts, (place) => `exists(${place} ? (${test}))`)})`
  const isPresent = (): string => `(${somewhere(parts, isPresentAt)})`
  switch (test) {
    case 'null':
      return negated ? isPresent() : `!${isPresent()}`
    case 'blank': {
      const isFilled = some(`${IS_NO_TEXT} || @ > ""`)
      const isEmpty = some('@ == ""')
      return negated
        ? `(${isFilled} || ${isPresent()} && !${isEmpty})`
        : `(!${isFilled} && (${isEmpty} || !${isPresent()}))`
    }
    default:
      return negated
        ? `(${some(IS_VALUE)} && !${some(refutes(test, values))})`
        : some(passes(test, values))
  }
}

// More would not fit into Postgres' `numeric`, and would not change any comparison with a double.
const MAX_DIGITS = 1000
const MAX_PLACE = 400

/** A number of a query in JSON. Postgres compares it exactly with the decimals of stored numbers. */
function printNumber(text: string): string {
  const { sign, digits, place } = decimalOf(trimAscii(text))
  const cut = digits.length > MAX_DIGITS ? `${digits.slice(0, MAX_DIGITS)}1` : digits
  const exponent = Math.max(-MAX_PLACE, Math.min(place, MAX_PLACE))
  return sign === 0 ? '0' : `${sign < 0 ? '-' : ''}0.${cut}e${exponent}`
}

/** The values in JSON that a text in a query is compared with: itself, and the number or boolean it reads as. */
const readings = (text: string): string[] => {
  const boolean = readBoolean(text)
  return [
    JSON.stringify(text),
    ...(readNumber(text) === undefined ? [] : [printNumber(text)]),
    ...(boolean === undefined ? [] : [String(boolean)]),
  ]
}

/**
 * SQL that holds if the attribute passes, and possibly for others; `undefined` if the path would be too
 * long. Names and patterns are one parameter, values another.
 */
export function pushDownByPath(
  name: string,
  predicate: Predicate,
  values: readonly string[],
): Sql | undefined {
  const parts = name.split('_')
  if (parts.length > MAX_PARTS || name.length > MAX_NAME) return undefined
  const path = `$ ? (${holds(parts, predicate, values)} || ${hasNestedArrays(parts)})`
  const variables = `{"v":[${values.flatMap(readings).join()}]}`
  return path.length + variables.length > MAX_PATH
    ? undefined
    : sql('jsonb_path_exists(attributes::jsonb, ?::jsonpath, ?::jsonb)', path, variables)
}
