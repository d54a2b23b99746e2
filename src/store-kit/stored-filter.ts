import type { AuditEvent } from '../event/event.js'
import { LazyEvent } from '../event/lazy-event.js'
import { ANY_TEXT, isOwnField, SOURCE } from '../event/own-fields.js'
import type { Grouping } from '../filter/ast.js'
import { compileFilterInSteps } from '../filter/evaluate.js'
import type { Predicate } from '../filter/predicates.js'
import { containing } from '../filter/search.js'
import type { Decide } from '../filter/steps.js'
import { readBoolean, readNumber } from '../filter/values.js'
import { pushDownWith } from './pushdown.js'

/*
 * A client can record events that take milliseconds to parse. Searching their JSON text takes a small part of that,
 * and rules out most events that a filter does not match.
 */

/** Attributes with a shorter text are parsed at once: a search would save little. */
export const MIN_SEARCHED = 4096

/** False only if no event with this JSON text of its attributes matches. */
export type TextTest = (json: string, event: AuditEvent) => boolean

/** The text as it is in JSON, without quotes. Each character is escaped on its own. */
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

/** A value is at a key that ends with the last part of its name. */
function hasKey(name: string): TextTest {
  const end = `${inJson(name.slice(name.lastIndexOf('_') + 1))}":`
  return (json) => json.includes(end)
}

const MAX_VALUES = 8

/** `undefined` for a value that may be written in several ways, as a number can. */
function hasValue(values: readonly string[]): TextTest | undefined {
  const isText = (value: string): boolean =>
    readNumber(value) === undefined && readBoolean(value) === undefined
  if (values.length > MAX_VALUES || !values.every(isText)) return undefined
  const parts = values.map((value) => JSON.stringify(value))
  return (json) => parts.some((part) => json.includes(part))
}

function contains(value: string): (text: string) => boolean {
  const matcher = containing(inJson(value))
  return (text) => matcher(text)
}

/** Searches the own texts too, where nothing is escaped. */
function hasAnyText(value: string): TextTest {
  const [isOwn, isIn] = [containing(value), contains(value)]
  return (json, { type, username, source }) =>
    isOwn(type) ||
    (username !== null && isOwn(username)) ||
    (source !== null && isOwn(source)) ||
    isIn(json)
}

/** The source is in its column, or an attribute of the same name. */
function sourceTest(test: Predicate['test'], negated: boolean): TextTest | undefined {
  if (!negated && (test === 'null' || test === 'blank')) return undefined
  const isIn = hasKey(SOURCE)
  return (json, event) => event.source !== null || isIn(json, event)
}

const bothOf =
  (a: TextTest, b: TextTest | undefined): TextTest =>
  (json, event) =>
    a(json, event) && (b === undefined || b(json, event))

function testOf(
  name: string,
  { test, negated }: Predicate,
  values: readonly string[],
): TextTest | undefined {
  if (isOwnField(name)) return undefined
  if (name === SOURCE) return sourceTest(test, negated)
  const [first = ''] = values
  if (name === ANY_TEXT) return test === 'cont' && !negated ? hasAnyText(first) : undefined
  if (test === 'null' || test === 'blank') return negated ? hasKey(name) : undefined
  if (negated) return hasKey(name)
  if (test === 'eq' || test === 'in') return bothOf(hasKey(name), hasValue(values))
  return bothOf(hasKey(name), test === 'cont' ? contains(first) : undefined)
}

/** With more searches, parsing is as fast, and lets the event loop run in between. */
const MAX_SEARCHES = 16

/** A test by which the text of attributes rules out events; `undefined` if it can rule out none, or not faster than parsing. */
function textTest(where: Grouping | undefined): TextTest | undefined {
  let searches = 0
  const test = pushDownWith<TextTest>(
    where,
    (name, predicate, values) => {
      searches += 1 + (values.length > MAX_VALUES ? 0 : values.length)
      return testOf(name, predicate, values)
    },
    (tests, combinator) =>
      combinator === 'or'
        ? (json, event) => tests.some((one) => one(json, event))
        : (json, event) => tests.every((one) => one(json, event)),
  )
  return searches > MAX_SEARCHES ? undefined : test
}

/** Like `compileFilterInSteps`, for events that a store has read: large ones that were not parsed are searched first. */
export function compileStoredFilter(
  where: Grouping | undefined,
  minSearched = MIN_SEARCHED,
): Decide<AuditEvent> {
  const decide = compileFilterInSteps(where)
  // Compiled when it is first used, as most queries meet no large event.
  let compiled: { readonly test: TextTest | undefined } | undefined
  const mayMatch: TextTest = (json, event) =>
    (compiled ??= { test: textTest(where) }).test?.(json, event) ?? true
  return (event) => {
    const json = event instanceof LazyEvent ? event.searchable : undefined
    const isRuledOut = json !== undefined && json.length >= minSearched && !mayMatch(json, event)
    return isRuledOut ? false : decide(event)
  }
}
