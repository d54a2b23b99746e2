import type { AuditEvent } from '../event/event.js'
import { formatTimestamp, parseTimestamp } from '../event/timestamp.js'
import type { Combinator, Condition, Grouping } from './ast.js'
import {
  type Attributes,
  eventAttributes,
  isPresent,
  type Scalar,
  someScalar,
} from './attributes.js'
import { likeMatcher } from './like.js'
import { predicateOf, type Predicate, type TestName } from './predicates.js'
import { containing, endingWith, startingWith } from './search.js'
import { compareText, readBoolean, readNumber } from './values.js'

/** True if an item of a list matches. */
export type ItemPredicate<Item> = (item: Item) => boolean

/** Tests one value; `undefined` if the test does not apply to values of that type. */
export type ScalarTest = (value: Scalar) => boolean | undefined

function equals(text: string): ScalarTest {
  const number = readNumber(text)
  const boolean = readBoolean(text)
  return (value) => {
    if (typeof value === 'string') return value === text
    return typeof value === 'number' ? value === number : value === boolean
  }
}

function isIn(texts: readonly string[]): ScalarTest {
  const asText = new Set<Scalar>(texts)
  const asNumber = new Set<Scalar | undefined>(texts.map(readNumber))
  const asBoolean = new Set<Scalar | undefined>(texts.map(readBoolean))
  return (value) => {
    if (typeof value === 'string') return asText.has(value)
    return (typeof value === 'number' ? asNumber : asBoolean).has(value)
  }
}

// For texts without these characters, UTF-16 order is code point order.
const NEEDS_RANK = /[\uD800-\uFFFF]/

function ordered(text: string, holds: (value: Scalar, bound: Scalar) => boolean): ScalarTest {
  const number = readNumber(text)
  const boolean = readBoolean(text)
  const isRanked = NEEDS_RANK.test(text)
  return (value) => {
    if (typeof value === 'string')
      return isRanked ? holds(compareText(value, text), 0) : holds(value, text)
    const bound = typeof value === 'number' ? number : boolean
    return bound !== undefined && holds(value, bound)
  }
}

const onText =
  (test: (text: string) => boolean): ScalarTest =>
  (value) =>
    typeof value === 'string' ? test(value) : undefined

export type ValueTestName = Exclude<TestName, 'null' | 'blank'>

const TESTS: Readonly<Record<ValueTestName, (texts: readonly string[]) => ScalarTest>> = {
  eq: ([text]) => equals(text!),
  in: isIn,
  lt: ([text]) => ordered(text!, (value, bound) => value < bound),
  lteq: ([text]) => ordered(text!, (value, bound) => value <= bound),
  gt: ([text]) => ordered(text!, (value, bound) => value > bound),
  gteq: ([text]) => ordered(text!, (value, bound) => value >= bound),
  cont: ([text]) => onText(containing(text!)),
  start: ([text]) => onText(startingWith(text!)),
  end: ([text]) => onText(endingWith(text!)),
  matches: ([text]) => onText(likeMatcher(text!)),
  true: () => (value) => value === true,
  false: () => (value) => value === false,
}

/** The test that a predicate applies to each value. */
export const scalarTest = (test: ValueTestName, texts: readonly string[]): ScalarTest =>
  TESTS[test](texts)

/** True for tests that read their values by the type of the attribute. The others test printed text. */
export function readsValues(test: TestName): boolean {
  return ['eq', 'in', 'lt', 'lteq', 'gt', 'gteq'].includes(test)
}

/** `blank`: no value, or only empty texts. */
function isBlankAttribute<Item>(attributes: Attributes<Item>, name: string): ItemPredicate<Item> {
  let present = false
  let empty = false
  const isFilled: ScalarTest = (scalar) => {
    empty ||= scalar === ''
    return scalar !== ''
  }
  const walk = attributes.walk(name, (value) => {
    present ||= isPresent(value)
    return someScalar(value, isFilled)
  })
  return (item) => {
    present = false
    empty = false
    return !walk(item) && (empty || !present)
  }
}

const not =
  <Item>(predicate: ItemPredicate<Item>): ItemPredicate<Item> =>
  (item) =>
    !predicate(item)

/** Positive: some value passes the test. Negated: there is a value, and none passes. */
function quantify<Item>(
  attributes: Attributes<Item>,
  name: string,
  test: ScalarTest,
  negated: boolean,
): ItemPredicate<Item> {
  if (!negated) return attributes.walk(name, (value) => someScalar(value, test))
  let any = false
  const refutes: ScalarTest = (scalar) => {
    any = true
    return test(scalar) !== false
  }
  const isRefuted = attributes.walk(name, (value) => someScalar(value, refutes))
  return (item) => {
    any = false
    return !isRefuted(item) && any
  }
}

const some =
  <Item>(predicates: readonly ItemPredicate<Item>[]): ItemPredicate<Item> =>
  (item) => {
    for (const predicate of predicates) if (predicate(item)) return true
    return false
  }

const every =
  <Item>(predicates: readonly ItemPredicate<Item>[]): ItemPredicate<Item> =>
  (item) => {
    for (const predicate of predicates) if (!predicate(item)) return false
    return true
  }

function join<Item>(
  predicates: readonly ItemPredicate<Item>[],
  combinator: Combinator,
): ItemPredicate<Item> {
  if (predicates.length === 1) return predicates[0]!
  return combinator === 'or' ? some(predicates) : every(predicates)
}

/** Timestamps are compared in their printed form, whose text order is time order. */
function printedTimes(values: readonly string[]): readonly string[] {
  return values.map((value) => {
    const time = parseTimestamp(value)
    return time === undefined ? value : formatTimestamp(time)
  })
}

function compileAttribute<Item>(
  attributes: Attributes<Item>,
  name: string,
  predicate: Predicate,
  texts: readonly string[],
): ItemPredicate<Item> {
  const { test, negated, compound } = predicate
  if (test === 'null') {
    const isNotNull = attributes.walk(name, isPresent)
    return negated ? isNotNull : not(isNotNull)
  }
  if (test === 'blank') {
    const isBlank = isBlankAttribute(attributes, name)
    return negated ? not(isBlank) : isBlank
  }
  const isTime = attributes.types.get(name) === 'timestamp' && readsValues(test)
  const values = isTime ? printedTimes(texts) : texts
  if (!compound) return quantify(attributes, name, TESTS[test](values), negated)
  const tests = values.map((value) => quantify(attributes, name, TESTS[test]([value]), negated))
  return join(tests, compound === 'any' ? 'or' : 'and')
}

function compileCondition<Item>(
  attributes: Attributes<Item>,
  { attributes: names, combinator, joinedName, values, ...condition }: Condition,
): ItemPredicate<Item> {
  const predicate = predicateOf(condition.predicate)
  const apart = join(
    names.map((name) => compileAttribute(attributes, name, predicate, values)),
    combinator,
  )
  if (joinedName === undefined) return apart
  const hasWhole = attributes.walk(joinedName, isPresent)
  const whole = compileAttribute(attributes, joinedName, predicate, values)
  return (item) => (hasWhole(item) ? whole : apart)(item)
}

/** Compiles a filter on items with these attributes. */
export function compileWhere<Item>(
  attributes: Attributes<Item>,
  where: Grouping | undefined,
): ItemPredicate<Item> {
  if (!where) return () => true
  // Test declared attributes first: they are read directly, others need a search in the item.
  const isDeclared = (condition: Condition): boolean =>
    condition.attributes.every((name) => attributes.types.has(name))
  const inOrder = [
    ...where.conditions.filter(isDeclared),
    ...where.conditions.filter((condition) => !isDeclared(condition)),
  ]
  const parts = [
    ...inOrder.map((condition) => compileCondition(attributes, condition)),
    ...where.groupings.map((grouping) => compileWhere(attributes, grouping)),
  ]
  return join(parts, where.combinator)
}

/**
 * Compiles a filter to a predicate on events. It defines what a filter means: every store gives the
 * same answer, and SQL and indexes only reduce the events to test. Compile once, call for many events.
 */
export function compileFilter(where: Grouping | undefined): ItemPredicate<AuditEvent> {
  return compileWhere(eventAttributes, where)
}
