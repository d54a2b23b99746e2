import type { Combinator, Grouping } from '../../filter/ast.js'
import type { Scalar } from '../../filter/attributes.js'
import { ALL_TIME, predicateBounds, type TimeBounds } from '../../filter/bounds.js'
import {
  isWholeId,
  type ScalarTest,
  scalarTest,
  type ValueTestName,
} from '../../filter/evaluate.js'
import { pushDownWith } from '../pushdown.js'
import type { Predicate } from '../../filter/predicates.js'
import { containing, type TextMatcher } from '../../filter/search.js'
import { readBoolean, readExact, readNumber } from '../../filter/values.js'
import { ANY_TEXT, isOwnField, SOURCE } from '../../event/own-fields.js'
import { indexedText, indexedValue, Kind, type LineSearch, mayBeCut, mayHaveCut } from './part.js'

/** Values of one type between two bounds, inclusive. */
export interface ValueRange {
  readonly kind: Kind
  readonly from?: Scalar | undefined
  readonly to?: Scalar | undefined
}

/** How an index finds the events that may pass a test on one attribute. */
export type Find =
  | { readonly by: 'values'; readonly values: readonly Scalar[] }
  | { readonly by: 'ranges'; readonly ranges: readonly ValueRange[] }
  | { readonly by: 'start'; readonly text: string; readonly test: ScalarTest }
  /** Tests each distinct value. */
  | {
      readonly by: 'test'
      readonly kinds: readonly Kind[]
      readonly passes: ScalarTest
      readonly search?: LineSearch | undefined
    }
  | { readonly by: 'presence'; readonly presence: 'present' | 'absent' | 'blank' }

/** Finds events by a text of any name, or by their sources: see `IndexPart`. */
export interface AnyTextFilter {
  readonly among: 'texts' | 'sources'
  readonly passes: ScalarTest
  readonly search: LineSearch
}

/** The part of a filter that an index can evaluate: finds every event that matches, and maybe others. */
export type IndexFilter =
  | { readonly combinator: Combinator; readonly parts: readonly IndexFilter[] }
  | { readonly name: string; readonly find: Find }
  | AnyTextFilter
  | { readonly ids: readonly string[] }
  | { readonly bounds: TimeBounds }

const ALL_KINDS = [Kind.boolean, Kind.number, Kind.text] as const
const TEXTS = [Kind.text] as const

/** The values, one of each type, that a text in a query can mean, or is next to. */
function readings(text: string, read: (text: string) => number | undefined): Scalar[] {
  const [number, boolean] = [read(text), readBoolean(text)]
  return [
    indexedText(text),
    ...(number === undefined ? [] : [number]),
    ...(boolean === undefined ? [] : [boolean]),
  ]
}

const isBelow = (test: ValueTestName): boolean => test === 'lt' || test === 'lteq'

const MAX_START = 100

// Testing each distinct value is faster than more lookups.
const MAX_LOOKUPS = 100

/** How an index finds the events with a value that passes the test. */
export function findValue(test: ValueTestName, texts: readonly string[]): Find {
  const passes = scalarTest(test, texts)
  const [text = ''] = texts
  switch (test) {
    case 'eq':
    case 'in': {
      const values = [...new Set(texts.flatMap((one) => readings(one, readExact)))]
      if (values.length <= MAX_LOOKUPS) return { by: 'values', values }
      const among = new Set(values)
      return { by: 'test', kinds: ALL_KINDS, passes: (value) => among.has(indexedValue(value)) }
    }
    case 'lt':
    case 'lteq':
    case 'gt':
    case 'gteq': {
      const end = isBelow(test) ? 'to' : 'from'
      const kinds = { string: Kind.text, number: Kind.number, boolean: Kind.boolean } as const
      const ranges = readings(text, readNumber).map((value) => ({
        kind: kinds[typeof value as keyof typeof kinds],
        [end]: value,
      }))
      return { by: 'ranges', ranges }
    }
    case 'start': {
      // At most as long as the indexed beginning of a long text.
      const start = indexedText(text, MAX_START)
      return { by: 'start', text: start, test: scalarTest('start', [start]) }
    }
    case 'cont':
    case 'end':
    case 'matches':
      return {
        by: 'test',
        kinds: TEXTS,
        passes: (value) => passes(value) === true || mayBeCut(value),
        search: test === 'matches' ? undefined : inLines(text, test === 'end'),
      }
    case 'true':
    case 'false':
      return { by: 'values', values: [test === 'true'] }
  }
}

/**
 * Finds lines that contain the text, or may have contained it before they were cut. The JSON of the text is a
 * part of such a line, because each character is escaped on its own.
 */
function inLines(text: string, atEnd: boolean): LineSearch {
  const part = JSON.stringify(text).slice(1, atEnd ? undefined : -1)
  // Compiled when it is first used, as there may be thousands of parts.
  let isIn: TextMatcher | undefined
  return { part, mayPass: (lines) => (isIn ??= containing(part))(lines) || mayHaveCut(lines) }
}

/** Finds the events with a value that fails the test. */
function findFailing(test: ValueTestName, texts: readonly string[]): Find {
  const passes = scalarTest(test, texts)
  return {
    by: 'test',
    kinds: ALL_KINDS,
    passes: (value) => passes(value) === false || mayBeCut(value),
  }
}

function findPresence(test: 'null' | 'blank', negated: boolean): Find {
  if (negated) return { by: 'presence', presence: 'present' }
  return { by: 'presence', presence: test === 'null' ? 'absent' : 'blank' }
}

// Shorter texts are in most parts of the index, and mostly in many events.
const MIN_ANY_TEXT = 3

/** How an index finds a text that some text of an event contains. */
export const searchTexts = (among: AnyTextFilter['among'], text: string): AnyTextFilter => ({
  among,
  passes: scalarTest('cont', [text]),
  search: inLines(text, false),
})

/** How it finds the sources that end before what follows the last slash in the text. */
export function searchSourceStarts(text: string): AnyTextFilter | undefined {
  const end = text.lastIndexOf('/') + 1
  if (end === 0 || end === text.length) return undefined
  const start = text.slice(0, end)
  return { among: 'sources', passes: scalarTest('end', [start]), search: inLines(start, true) }
}

/** A text is in the listed part of a source, or begins there and ends in a text of an attribute: `IndexPart.sources`. */
function indexAnyText(text: string): IndexFilter | undefined {
  if (Array.from(text.slice(0, 2 * MIN_ANY_TEXT)).length < MIN_ANY_TEXT) return undefined
  const parts: IndexFilter[] = [searchTexts('texts', text), searchTexts('sources', text)]
  const start = searchSourceStarts(text)
  if (start) {
    const rest = searchTexts('texts', text.slice(text.lastIndexOf('/') + 1))
    parts.push({ combinator: 'and', parts: [start, rest] })
  }
  if (isWholeId(text)) parts.push({ ids: [text.toLowerCase()] })
  return { combinator: 'or', parts }
}

function indexPredicate(
  name: string,
  { name: predicate, test, negated }: Predicate,
  values: readonly string[],
): IndexFilter | undefined {
  if (name === SOURCE) return undefined
  if (name === ANY_TEXT) return test === 'cont' && !negated ? indexAnyText(values[0]!) : undefined
  if (name === 'id')
    return !negated && (test === 'eq' || test === 'in') ? { ids: values } : undefined
  if (name === 'created_at') {
    const bounds = predicateBounds(predicate, values[0] ?? '')
    return bounds === ALL_TIME ? undefined : { bounds }
  }
  if (test === 'null' || test === 'blank') return { name, find: findPresence(test, negated) }
  const find = negated ? findFailing(test, values) : findValue(test, values)
  return { name, find: isOwnField(name) ? ofType(name, find) : find }
}

/** Leaves out the types that an own field never has. */
function ofType(field: string, find: Find): Find {
  const isBoolean = field === 'system'
  if (find.by === 'values')
    return {
      by: 'values',
      values: find.values.filter((v) => (typeof v === 'boolean') === isBoolean),
    }
  if (find.by !== 'ranges') return find
  const kind = isBoolean ? Kind.boolean : Kind.text
  return { by: 'ranges', ranges: find.ranges.filter((range) => range.kind === kind) }
}

/** `undefined` if an index cannot exclude any event. */
export function indexFilter(where: Grouping | undefined): IndexFilter | undefined {
  return pushDownWith<IndexFilter>(where, indexPredicate, (parts, combinator) =>
    parts.length === 1 ? parts[0]! : { combinator, parts },
  )
}

/** True if every event that matches has the attribute. */
export function requiresAttribute(filter: IndexFilter | undefined, name: string): boolean {
  if (!filter) return false
  if ('find' in filter) {
    const { find } = filter
    return filter.name === name && (find.by !== 'presence' || find.presence === 'present')
  }
  if (!('parts' in filter)) return false
  const requires = (part: IndexFilter): boolean => requiresAttribute(part, name)
  return filter.combinator === 'or' ? filter.parts.every(requires) : filter.parts.some(requires)
}

/** The ids that the filter names. */
export function idsOf(filter: IndexFilter | undefined): readonly string[] {
  if (!filter) return []
  if ('ids' in filter) return filter.ids
  return 'parts' in filter ? filter.parts.flatMap(idsOf) : []
}

/** True if evaluating the filter takes only a few reads, however many values the attributes have. */
export function isLookup(filter: IndexFilter | undefined): boolean {
  if (!filter) return true
  if ('parts' in filter) return filter.parts.every(isLookup)
  if ('among' in filter) return false
  return !('find' in filter) || filter.find.by === 'values' || filter.find.by === 'presence'
}

/** True if the filter names ids or values by which a few reads find all events that may match. */
export function leadsByValues(filter: IndexFilter): boolean {
  if ('ids' in filter) return true
  if ('find' in filter) return filter.find.by === 'values'
  if (!('parts' in filter)) return false
  const { combinator, parts } = filter
  return combinator === 'or'
    ? parts.every(leadsByValues)
    : parts.every(isLookup) && parts.some(leadsByValues)
}
