import type { Scalar } from '../../../src/filter/attributes.js'
import { isTextTest, type Predicate } from '../../../src/filter/predicates.js'
import { OPERATORS, type Sql, sql } from '../../../src/store-kit/sql.js'
import { readBoolean, readNumber } from '../../../src/filter/values.js'
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

/** The values that a text in a query equals: itself, and the number or boolean it reads as. */
export const readings = (text: string): Scalar[] =>
  [text, readNumber(text), readBoolean(text)].filter((value) => value !== undefined)

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

// JSON has no infinity; a number beyond all doubles compares the same.
const printNumber = (value: number): string =>
  Number.isFinite(value) ? String(value) : `${value < 0 ? '-' : ''}1e400`

const printScalar = (value: Scalar): string =>
  typeof value === 'number' ? printNumber(value) : JSON.stringify(value)

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
  const variables = `{"v":[${values.flatMap(readings).map(printScalar).join()}]}`
  return path.length + variables.length > MAX_PATH
    ? undefined
    : sql('jsonb_path_exists(attributes::jsonb, ?::jsonpath, ?::jsonb)', path, variables)
}
