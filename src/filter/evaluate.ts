import type { AuditEvent } from '../event.js'
import { formatTimestamp, parseTimestamp } from '../timestamp.js'
import type { Condition, Grouping } from './ast.js'
import { attributeWalk, isPresent, type Scalar, someScalar, type Walk } from './attributes.js'
import { likeMatcher } from './like.js'
import { predicateOf, type Predicate, type TestName } from './predicates.js'
import { compareText, fold, readBoolean, readNumber } from './values.js'

export type EventPredicate = (event: AuditEvent) => boolean

/** Decides about one value; `undefined` where the test does not apply to a value of that type. */
type ScalarTest = (value: Scalar) => boolean | undefined

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

function ordered(text: string, holds: (order: number) => boolean): ScalarTest {
  const number = readNumber(text)
  const boolean = readBoolean(text)
  return (value) => {
    if (typeof value === 'string') return holds(compareText(value, text))
    if (typeof value === 'number')
      return number !== undefined && holds(value < number ? -1 : value > number ? 1 : 0)
    return boolean !== undefined && holds(Number(value) - Number(boolean))
  }
}

const onText =
  (test: (text: string) => boolean): ScalarTest =>
  (value) =>
    typeof value === 'string' ? test(value) : undefined

function folded(text: string, test: (value: string, element: string) => boolean): ScalarTest {
  const element = fold(text)
  return onText((value) => test(fold(value), element))
}

type ValueTestName = Exclude<TestName, 'null' | 'blank'>

const TESTS: Readonly<Record<ValueTestName, (texts: readonly string[]) => ScalarTest>> = {
  eq: ([text]) => equals(text!),
  in: isIn,
  lt: ([text]) => ordered(text!, (order) => order < 0),
  lteq: ([text]) => ordered(text!, (order) => order <= 0),
  gt: ([text]) => ordered(text!, (order) => order > 0),
  gteq: ([text]) => ordered(text!, (order) => order >= 0),
  cont: ([text]) => folded(text!, (value, element) => value.includes(element)),
  start: ([text]) => folded(text!, (value, element) => value.startsWith(element)),
  end: ([text]) => folded(text!, (value, element) => value.endsWith(element)),
  matches: ([text]) => onText(likeMatcher(text!)),
  true: () => (value) => value === true,
  false: () => (value) => value === false,
}

/** Tests that read their values by the attribute's type; the others look at text as it is printed. */
export function readsValues(test: TestName): boolean {
  return ['eq', 'in', 'lt', 'lteq', 'gt', 'gteq'].includes(test)
}

function isNull(walk: Walk): EventPredicate {
  return (event) => !walk(event, isPresent)
}

/** Null, or there are values and all of them are empty text. */
function isBlankAttribute(walk: Walk): EventPredicate {
  return (event) => {
    let present = false
    let empty = false
    const filled = walk(event, (value) => {
      present ||= isPresent(value)
      return someScalar(value, (scalar) => {
        empty ||= scalar === ''
        return scalar !== ''
      })
    })
    return !filled && (empty || !present)
  }
}

const not =
  (predicate: EventPredicate): EventPredicate =>
  (event) =>
    !predicate(event)

/** Positive: some value passes. Negated: there are values, and every one fails the test. */
function quantify(walk: Walk, test: ScalarTest, negated: boolean): EventPredicate {
  if (!negated) return (event) => walk(event, (value) => someScalar(value, (v) => test(v) === true))
  return (event) => {
    let any = false
    const refuted = walk(event, (value) =>
      someScalar(value, (scalar) => {
        any = true
        return test(scalar) !== false
      }),
    )
    return any && !refuted
  }
}

const some =
  (predicates: readonly EventPredicate[]): EventPredicate =>
  (event) => {
    for (const predicate of predicates) if (predicate(event)) return true
    return false
  }

const every =
  (predicates: readonly EventPredicate[]): EventPredicate =>
  (event) => {
    for (const predicate of predicates) if (!predicate(event)) return false
    return true
  }

function join(predicates: readonly EventPredicate[], combinator: 'and' | 'or'): EventPredicate {
  if (predicates.length === 1) return predicates[0]!
  return combinator === 'or' ? some(predicates) : every(predicates)
}

/** `created_at` is compared as it is stored: in its printed form, whose text order is time order. */
function readableValues(
  attribute: string,
  predicate: Predicate,
  values: readonly string[],
): readonly string[] {
  if (attribute !== 'created_at' || !readsValues(predicate.test)) return values
  return values.map((value) => {
    const time = parseTimestamp(value)
    return time === undefined ? value : formatTimestamp(time)
  })
}

function compileAttribute(
  attribute: string,
  predicate: Predicate,
  texts: readonly string[],
): EventPredicate {
  const walk = attributeWalk(attribute)
  const { test, negated, compound } = predicate
  if (test === 'null') return negated ? not(isNull(walk)) : isNull(walk)
  if (test === 'blank') return negated ? not(isBlankAttribute(walk)) : isBlankAttribute(walk)
  const values = readableValues(attribute, predicate, texts)
  if (!compound) return quantify(walk, TESTS[test](values), negated)
  const tests = values.map((value) => quantify(walk, TESTS[test]([value]), negated))
  return join(tests, compound === 'any' ? 'or' : 'and')
}

function compileCondition(condition: Condition): EventPredicate {
  const { attributes, combinator, joinedName, values } = condition
  const predicate = predicateOf(condition.predicate)
  const apart = join(
    attributes.map((attribute) => compileAttribute(attribute, predicate, values)),
    combinator,
  )
  if (joinedName === undefined) return apart
  const lacksWhole = isNull(attributeWalk(joinedName))
  const whole = compileAttribute(joinedName, predicate, values)
  return (event) => (lacksWhole(event) ? apart : whole)(event)
}

/**
 * The meaning of a filter: true for the events that it matches. Every store gives the same answer
 * as this; SQL and indexes only save it work. Compile once, call for many events.
 */
export function compileFilter(where: Grouping | undefined): EventPredicate {
  if (!where) return () => true
  const parts = [
    ...where.conditions.map(compileCondition),
    ...where.groupings.map((grouping) => compileFilter(grouping)),
  ]
  return join(parts, where.combinator)
}
