import type { AuditEvent } from '../event/event.js'
import { ANY_TEXT } from '../event/own-fields.js'
import { compareDecimals, decimalOf } from '../event/exact-numbers.js'
import { formatTimestamp, parseTimeBound } from '../event/timestamp.js'
import { isUuid } from '../event/uuid.js'
import type { Combinator, Condition, Grouping } from './ast.js'
import {
  type AttributeReader,
  eventAttributes,
  hasMembers,
  isPresent,
  type Scalar,
  scalarsInSteps,
  someScalar,
} from './attributes.js'
import { concealedReader } from './concealed-reader.js'
import { likeMatcher } from './like.js'
import { isTextTest, predicateOf, type Predicate, type TestName } from './predicates.js'
import { containing, endingWith, startingWith, type TextMatcher } from './search.js'
import { type Decide, decideWithin, spend, type Steps } from './steps.js'
import {
  compareText,
  isNumberText,
  readBoolean,
  readExact,
  readNearest,
  trimAscii,
} from './values.js'

/** True if an item of a list matches. */
export type ItemPredicate<Item> = (item: Item) => boolean

/** Tests one value; `undefined` if the test does not apply to values of that type. */
export interface ScalarTest {
  (value: Scalar): boolean | undefined
  /** The same in steps, for tests that take long for some texts. */
  readonly steps?: (value: Scalar) => Steps<boolean | undefined>
}

function equals(text: string): ScalarTest {
  const number = readExact(text)
  const boolean = readBoolean(text)
  return (value) => {
    if (typeof value === 'string') return value === text
    return typeof value === 'number' ? value === number : value === boolean
  }
}

function isIn(texts: readonly string[]): ScalarTest {
  const asText = new Set<Scalar>(texts)
  const asNumber = new Set<Scalar | undefined>(texts.map(readExact))
  const asBoolean = new Set<Scalar | undefined>(texts.map(readBoolean))
  return (value) => {
    if (typeof value === 'string') return asText.has(value)
    return (typeof value === 'number' ? asNumber : asBoolean).has(value)
  }
}

// For texts without these characters, UTF-16 order is code point order.
const NEEDS_RANK = /[\uD800-\uFFFF]/

function ordered(text: string, holds: (value: Scalar, bound: Scalar) => boolean): ScalarTest {
  const number = readNearest(text)
  const boolean = readBoolean(text)
  const isRanked = NEEDS_RANK.test(text)
  return (value) => {
    if (typeof value === 'string')
      return isRanked ? holds(compareText(value, text), 0) : holds(value, text)
    if (typeof value === 'boolean') return boolean !== undefined && holds(value, boolean)
    if (number === undefined) return false
    // If the doubles are equal, `side` decides: the number in the query may be less or greater than its nearest
    // double.
    return value === number.double ? holds(0, number.side) : holds(value, number.double)
  }
}

// A test of text passes four characters in the time of one unit.
const CHARS_BITS = 2
// Compiling a regular expression takes about this many units.
const COMPILE_UNITS = 1000

/** Compiles the matcher when it is first used, because few values of a list of thousands may be reached. */
function onText(compile: (text: string) => TextMatcher, text: string): ScalarTest {
  let matcher: TextMatcher | undefined
  let factor = 1
  const compiled = (): TextMatcher => {
    spend(COMPILE_UNITS)
    matcher = compile(text)
    factor = matcher.slow?.factor ?? 1
    return matcher
  }
  const test: ScalarTest = (value) => {
    if (typeof value !== 'string') return undefined
    const matches = matcher ?? compiled()
    spend((value.length >> CHARS_BITS) * factor)
    return matches(value)
  }
  function* steps(value: Scalar): Steps<boolean | undefined> {
    if (typeof value !== 'string') return undefined
    const matches = matcher ?? compiled()
    return matches.slow ? yield* matches.slow.steps(value) : matches(value)
  }
  return Object.assign(test, { steps })
}

export type ValueTestName = Exclude<TestName, 'null' | 'blank'>

const TESTS: Readonly<Record<ValueTestName, (texts: readonly string[]) => ScalarTest>> = {
  eq: ([text]) => equals(text!),
  in: isIn,
  lt: ([text]) => ordered(text!, (value, bound) => value < bound),
  lteq: ([text]) => ordered(text!, (value, bound) => value <= bound),
  gt: ([text]) => ordered(text!, (value, bound) => value > bound),
  gteq: ([text]) => ordered(text!, (value, bound) => value >= bound),
  cont: ([text]) => onText(containing, text!),
  start: ([text]) => onText(startingWith, text!),
  end: ([text]) => onText(endingWith, text!),
  matches: ([text]) => onText(likeMatcher, text!),
  true: () => (value) => value === true,
  false: () => (value) => value === false,
}

/** The test that a predicate applies to each value. */
export const scalarTest = (test: ValueTestName, texts: readonly string[]): ScalarTest =>
  TESTS[test](texts)

/** Orders of a value and a bound that pass: negative if the value is less. */
const PASSING_ORDERS: ReadonlyMap<ValueTestName, (order: number) => boolean> = new Map([
  ['eq', (order) => order === 0],
  ['in', (order) => order === 0],
  ['lt', (order) => order < 0],
  ['lteq', (order) => order <= 0],
  ['gt', (order) => order > 0],
  ['gteq', (order) => order >= 0],
])

/** The test of a number that no double prints, which is given as its text. */
function decimalTest(
  test: ValueTestName,
  texts: readonly string[],
): (number: string) => boolean | undefined {
  const passes = PASSING_ORDERS.get(test)
  if (!passes) return () => (isTextTest(test) ? undefined : false)
  const bounds = texts.filter(isNumberText).map((text) => decimalOf(trimAscii(text)))
  return (number) => {
    spend(bounds.length)
    const decimal = decimalOf(number)
    return bounds.some((bound) => passes(compareDecimals(decimal, bound)))
  }
}

/** The test of an attribute that is declared as numbers. */
function numberTest(test: ValueTestName, texts: readonly string[]): ScalarTest {
  const others = TESTS[test](texts)
  const ofDecimal = decimalTest(test, texts)
  const passes: ScalarTest = (value) => (isNumberText(value) ? ofDecimal(value) : others(value))
  const { steps } = others
  if (!steps) return passes
  return Object.assign(passes, {
    *steps(value: Scalar): Steps<boolean | undefined> {
      return isNumberText(value) ? ofDecimal(value) : yield* steps(value)
    },
  })
}

/** True for tests that read their values by the type of the attribute. The others test printed text. */
export function readsValues(test: TestName): boolean {
  return ['eq', 'in', 'lt', 'lteq', 'gt', 'gteq'].includes(test)
}

/** A compiled filter, or a part of it. */
interface Compiled<Item> {
  readonly matches: ItemPredicate<Item>
  /** The same in steps. */
  readonly steps: (item: Item) => Steps<boolean>
}

const ALL: Compiled<unknown> = {
  matches: () => true,
  // eslint-disable-next-line require-yield
  *steps() {
    return true
  },
}

/** `not_null`: a value is present. */
const notNull = <Item>(attributes: AttributeReader<Item>, name: string): Compiled<Item> => ({
  matches: attributes.walk(name, isPresent),
  *steps(item) {
    return (yield* attributes.valuesInSteps(item, name)).some(isPresent)
  },
})

/** `blank`: no value, or only empty texts. */
function blank<Item>(attributes: AttributeReader<Item>, name: string): Compiled<Item> {
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
  const matches = (item: Item): boolean => {
    present = false
    empty = false
    return !walk(item) && (empty || !present)
  }
  function* steps(item: Item): Steps<boolean> {
    const values = yield* attributes.valuesInSteps(item, name)
    const scalars = yield* scalarsInSteps(values)
    return scalars.length > 0 ? scalars.every((scalar) => scalar === '') : !values.some(isPresent)
  }
  return { matches, steps }
}

const not = <Item>({ matches, steps }: Compiled<Item>): Compiled<Item> => ({
  matches: (item) => !matches(item),
  *steps(item) {
    return !(yield* steps(item))
  },
})

/** Positive: some value passes the test. Negated: there is a value, and none passes. */
function quantify<Item>(
  attributes: AttributeReader<Item>,
  name: string,
  test: ScalarTest,
  negated: boolean,
): Compiled<Item> {
  function* steps(item: Item): Steps<boolean> {
    const scalars = yield* scalarsInSteps(yield* attributes.valuesInSteps(item, name))
    for (const scalar of scalars) {
      yield
      const passes = test.steps ? yield* test.steps(scalar) : test(scalar)
      if (negated ? passes !== false : passes === true) return !negated
    }
    return negated && scalars.length > 0
  }
  if (!negated) return { matches: attributes.walk(name, (value) => someScalar(value, test)), steps }
  let any = false
  const refutes: ScalarTest = (scalar) => {
    any = true
    return test(scalar) !== false
  }
  const isRefuted = attributes.walk(name, (value) => someScalar(value, refutes))
  const matches = (item: Item): boolean => {
    any = false
    return !isRefuted(item) && any
  }
  return { matches, steps }
}

/** Passes a value that passes one of the tests, or all of them. */
function joinTests(tests: readonly ScalarTest[], compound: 'any' | 'all'): ScalarTest {
  const isAny = compound === 'any'
  const passes: ScalarTest = (value) => {
    for (const test of tests) if ((test(value) === true) === isAny) return isAny
    return !isAny
  }
  return Object.assign(passes, {
    *steps(value: Scalar): Steps<boolean> {
      for (const test of tests) {
        yield
        const isPassed = (test.steps ? yield* test.steps(value) : test(value)) === true
        if (isPassed === isAny) return isAny
      }
      return !isAny
    },
  })
}

/** There is a value, and every value passes the test. An object fails; null, and what is empty, is no value. */
function quantifyEvery<Item>(
  attributes: AttributeReader<Item>,
  name: string,
  test: ScalarTest,
): Compiled<Item> {
  let any = false
  const fails = (scalar: Scalar): boolean => {
    any = true
    return test(scalar) !== true
  }
  const isRefuted = attributes.walk(name, (value) => someScalar(value, fails) || hasMembers(value))
  const matches = (item: Item): boolean => {
    any = false
    return !isRefuted(item) && any
  }
  function* steps(item: Item): Steps<boolean> {
    const values = yield* attributes.valuesInSteps(item, name)
    if (values.some(hasMembers)) return false
    const scalars = yield* scalarsInSteps(values)
    for (const scalar of scalars) {
      yield
      if ((test.steps ? yield* test.steps(scalar) : test(scalar)) !== true) return false
    }
    return scalars.length > 0
  }
  return { matches, steps }
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

function join<Item>(parts: readonly Compiled<Item>[], combinator: Combinator): Compiled<Item> {
  if (parts.length === 1) return parts[0]!
  const isOr = combinator === 'or'
  const predicates = parts.map(({ matches }) => matches)
  return {
    matches: isOr ? some(predicates) : every(predicates),
    *steps(item) {
      for (const part of parts) {
        yield
        if ((yield* part.steps(item)) === isOr) return isOr
      }
      return !isOr
    },
  }
}

/**
 * Timestamps are compared in their printed form, whose text order is time order. A time between two microseconds becomes a text
 * between theirs.
 */
function printedTimes(values: readonly string[]): readonly string[] {
  return values.map((value) => {
    const time = parseTimeBound(value)
    if (time === undefined) return value
    const printed = formatTimestamp(Math.floor(time))
    return Number.isInteger(time) ? printed : `${printed}~`
  })
}

/**
 * True if a search of all texts compares the text with ids as well. Many ids contain a short number or word of
 * hexadecimal digits by chance, and no index has parts of ids, so an id is found only as a whole.
 */
export const isWholeId = (text: string): boolean => isUuid(text.toLowerCase())

/** A test that is applied to an attribute. */
interface AttributeTest extends Pick<Condition, 'values' | 'everyValue'> {
  readonly predicate: Predicate
}

function compileAttribute<Item>(
  attributes: AttributeReader<Item>,
  name: string,
  { predicate, values: texts, everyValue }: AttributeTest,
): Compiled<Item> {
  const { test, negated, compound } = predicate
  if (test === 'null') {
    const isNotNull = notNull(attributes, name)
    return negated ? isNotNull : not(isNotNull)
  }
  if (test === 'blank') {
    const isBlank = blank(attributes, name)
    return negated ? not(isBlank) : isBlank
  }
  const type = attributes.types.get(name)
  const values = type === 'timestamp' && readsValues(test) ? printedTimes(texts) : texts
  const testOf = type === 'number' ? numberTest : scalarTest
  const { anyText } = attributes
  const compileTest = (some: readonly string[]): Compiled<Item> => {
    const passes = testOf(test, some)
    if (name !== ANY_TEXT || !anyText) return quantify(attributes, name, passes, negated)
    const inTexts = quantify(anyText, name, passes, negated)
    if (!some.some(isWholeId)) return inTexts
    return join([inTexts, quantify(attributes, 'id', passes, negated)], negated ? 'and' : 'or')
  }
  if (everyValue && !negated && name !== ANY_TEXT)
    return quantifyEvery(
      attributes,
      name,
      compound
        ? joinTests(
            values.map((value) => testOf(test, [value])),
            compound,
          )
        : testOf(test, values),
    )
  if (!compound) return compileTest(values)
  const tests = values.map((value) => compileTest([value]))
  return join(tests, compound === 'any' ? 'or' : 'and')
}

/** The reader without these names. Only filters of events conceal names. */
const without = <Item>(
  reader: AttributeReader<Item>,
  names: readonly string[],
): AttributeReader<Item> =>
  concealedReader(
    reader as unknown as AttributeReader<AuditEvent>,
    names,
  ) as unknown as AttributeReader<Item>

function compileCondition<Item>(
  all: AttributeReader<Item>,
  { attributes: names, combinator, joinedName, concealed, ...condition }: Condition,
): Compiled<Item> {
  const attributes = concealed ? without(all, concealed) : all
  const test = { ...condition, predicate: predicateOf(condition.predicate) }
  const apart = join(
    names.map((name) => compileAttribute(attributes, name, test)),
    combinator,
  )
  if (joinedName === undefined) return apart
  const hasWhole = notNull(attributes, joinedName)
  const whole = compileAttribute(attributes, joinedName, test)
  return {
    matches: (item) => (hasWhole.matches(item) ? whole : apart).matches(item),
    *steps(item) {
      const means = (yield* hasWhole.steps(item)) ? whole : apart
      yield
      return yield* means.steps(item)
    },
  }
}

function compile<Item>(
  attributes: AttributeReader<Item>,
  where: Grouping | undefined,
): Compiled<Item> {
  if (!where) return ALL
  // Test declared attributes first: they are read directly, others need a search in the item.
  const isDeclared = (condition: Condition): boolean =>
    condition.attributes.every((name) => attributes.types.has(name))
  const inOrder = [
    ...where.conditions.filter(isDeclared),
    ...where.conditions.filter((condition) => !isDeclared(condition)),
  ]
  const parts = [
    ...inOrder.map((condition) => compileCondition(attributes, condition)),
    ...where.groupings.map((grouping) => compile(attributes, grouping)),
  ]
  return join(parts, where.combinator)
}

/** Compiles a filter on items with these attributes. */
export function compileWhere<Item>(
  attributes: AttributeReader<Item>,
  where: Grouping | undefined,
): ItemPredicate<Item> {
  return compile(attributes, where).matches
}

/** Like {@link compileWhere}, for filters of clients: what takes long is returned as work that can pause. */
export function compileWhereInSteps<Item>(
  attributes: AttributeReader<Item>,
  where: Grouping | undefined,
): Decide<Item> {
  if (!where) return () => true
  const { matches, steps } = compile(attributes, where)
  return decideWithin(matches, steps)
}

/**
 * Compiles a filter to a predicate on events. It defines the meaning of a filter: every store gives the
 * same answer, and SQL and indexes only reduce the events to test. Compile once, call for many events.
 */
export function compileFilter(where: Grouping | undefined): ItemPredicate<AuditEvent> {
  return compileWhere(eventAttributes, where)
}

/** Like {@link compileFilter}, for filters of clients: what takes long is returned as work that can pause. */
export function compileFilterInSteps(where: Grouping | undefined): Decide<AuditEvent> {
  return compileWhereInSteps(eventAttributes, where)
}
