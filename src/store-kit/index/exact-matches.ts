import type { Scalar } from '../../filter/attributes.js'
import { scalarTest, type ValueTestName } from '../../filter/evaluate.js'
import { compareScalars } from '../../filter/order.js'
import { isTextTest } from '../../filter/predicates.js'
import { type BitSet, addRange, emptySet, intersect, invert, subtract, unite } from './bit-set.js'
import type { ExactFilter, ExactTest } from './exact-filter.js'
import { entriesInAnyOrder, entriesStartingWith, type Work } from './find-postings.js'
import {
  type AnyTextFilter,
  type Find,
  findValue,
  searchSourceStarts,
  searchTexts,
} from './index-filter.js'
import { type IndexPart, Kind, mayBeCut, type ValueEntry } from './part.js'
import { addToSet, type Postings } from './postings.js'

// With more values to test, the events are read instead.
const MAX_TESTED = 100_000
/** Values between two points where the work may pause. */
const STEP = 256
// The same in ordinals, at most. Reading a list takes as long as some of its ordinals.
const MAX_UNITS = 16_384
const LIST_UNITS = 4000

/**
 * The matching events of the part, also events that were removed since. `undefined` if the part does not have all
 * values, or if testing them would take longer than reading the events.
 */
export function* exactMatches(part: IndexPart, filter: ExactFilter): Work<BitSet | undefined> {
  if ('name' in filter) return yield* matchesOf(part, filter)
  if ('anyText' in filter) return yield* matchesOfText(part, filter)
  if ('joinedName' in filter) return yield* joinedMatches(part, filter)
  const { combinator, parts } = filter
  let found: BitSet | undefined
  for (const one of parts) {
    const set = yield* exactMatches(part, one)
    if (!set) return undefined
    if (!found) found = set
    else if (combinator === 'and') intersect(found, set)
    else unite(found, set)
    yield
  }
  return found ?? allEvents(part)
}

function allEvents({ size }: IndexPart): BitSet {
  const set = emptySet(size)
  addRange(set, 0, size)
  return set
}

function* joinedMatches(
  part: IndexPart,
  { joinedName, whole, apart }: Extract<ExactFilter, { joinedName: string }>,
): Work<BitSet | undefined> {
  if (part.partial(joinedName).size > 0) return undefined
  const found = yield* exactMatches(part, apart)
  const ofWhole = yield* exactMatches(part, whole)
  if (!found || !ofWhole) return undefined
  const hasName = presentIn(part, joinedName)
  subtract(found, hasName)
  intersect(ofWhole, hasName)
  unite(found, ofWhole)
  return found
}

function setOf({ size }: IndexPart, ...all: readonly Postings[]): BitSet {
  const set = emptySet(size)
  for (const postings of all) addToSet(postings, set)
  return set
}

const presentIn = (part: IndexPart, name: string): BitSet =>
  setOf(part, part.valued(name), part.containers(name))

function* matchesOf(
  part: IndexPart,
  { name, predicate, values }: ExactTest,
): Work<BitSet | undefined> {
  const { test, negated } = predicate
  if (part.partial(name).size > 0) return undefined
  if (test === 'null' || test === 'blank') {
    const found = test === 'null' ? presentIn(part, name) : yield* filledIn(part, name)
    if (found && !negated) invert(found, part.size)
    return found
  }
  const passing = yield* passingIn(part, name, test, values)
  if (!passing || !negated) return passing
  // A value to which a test of text does not apply refutes the negated test.
  const others = isTextTest(test) ? yield* anyOf(part, name, [Kind.boolean, Kind.number]) : passing
  if (!others) return undefined
  const found = setOf(part, part.valued(name))
  subtract(found, passing)
  subtract(found, others)
  return found
}

function* matchesOfText(
  part: IndexPart,
  { anyText, negated }: Extract<ExactFilter, { anyText: string }>,
): Work<BitSet | undefined> {
  if (mayBeCut(anyText) || part.partialTexts().size > 0) return undefined
  const start = searchSourceStarts(anyText)
  // The index does not list if the rest of a source goes on with the rest of the text.
  if (start) {
    const found = yield* withText(part, start)
    if (!found || found.some((word) => word !== 0)) return undefined
  }
  const found = yield* withText(part, searchTexts('texts', anyText))
  const bySource = yield* withText(part, searchTexts('sources', anyText))
  if (!found || !bySource) return undefined
  unite(found, bySource)
  if (negated) invert(found, part.size)
  return found
}

const withText = (
  part: IndexPart,
  { among, passes, search }: AnyTextFilter,
): Work<BitSet | undefined> =>
  addEntries(part, part[among](search), (value) => passes(value) === true)

/** The events with a value of these types that passes. */
function* anyOf(
  part: IndexPart,
  name: string,
  kinds: readonly Kind[],
  passes: (value: Scalar) => boolean = () => true,
): Work<BitSet | undefined> {
  const found = emptySet(part.size)
  for (const kind of kinds) {
    const set = yield* addEntries(part, entriesInAnyOrder(part, name, kind), passes)
    if (!set) return undefined
    unite(found, set)
  }
  return found
}

const ALL_KINDS = [Kind.boolean, Kind.number, Kind.text]

/** The events that are not blank in the attribute: with a value other than `''`, or with members and no value. */
function* filledIn(part: IndexPart, name: string): Work<BitSet | undefined> {
  const found = yield* anyOf(part, name, ALL_KINDS, (value) => value !== '')
  if (!found) return undefined
  const withMembers = setOf(part, part.containers(name))
  subtract(withMembers, setOf(part, part.valued(name)))
  unite(found, withMembers)
  return found
}

/** The events with a value that passes the test. */
function* passingIn(
  part: IndexPart,
  name: string,
  test: ValueTestName,
  texts: readonly string[],
): Work<BitSet | undefined> {
  if (texts.some(mayBeCut)) return undefined
  const find = findValue(test, texts)
  if (find.by === 'values') {
    const found = emptySet(part.size)
    for (const value of find.values) {
      addToSet(part.find(name, value), found)
      yield
    }
    return found
  }
  const passes = scalarTest(test, texts)
  const isPassing = (value: Scalar): boolean => passes(value) === true
  return yield* addEntries(part, entriesOf(part, name, find), isPassing)
}

/** All entries with a value that passes, and maybe others. */
function* entriesOf(
  part: IndexPart,
  name: string,
  find: Find,
): Generator<ValueEntry | undefined, void> {
  if (find.by === 'ranges')
    for (const { kind, from, to } of find.ranges)
      for (const entry of part.values(name, kind, 'asc', from)) {
        if (to !== undefined && compareScalars(entry.value, to) > 0) break
        yield entry
      }
  else if (find.by === 'test')
    for (const kind of find.kinds) yield* entriesInAnyOrder(part, name, kind, find.search)
  else if (find.by === 'start') yield* entriesStartingWith(part, name, find)
}

/** Adds the events of the entries that pass. `undefined` if there are too many, or if one may be cut. */
function* addEntries(
  { size }: Pick<IndexPart, 'size'>,
  entries: Iterable<ValueEntry | undefined>,
  passes: (value: Scalar) => boolean,
): Work<BitSet | undefined> {
  const found = emptySet(size)
  let tested = 0
  let units = 0
  for (const entry of entries) {
    if (entry) {
      if (mayBeCut(entry.value) || ++tested > MAX_TESTED) return undefined
      if (passes(entry.value)) {
        const postings = entry.postings()
        addToSet(postings, found)
        units += LIST_UNITS + postings.size
      }
    }
    if (entry && tested % STEP > 0 && units < MAX_UNITS) continue
    yield
    units = 0
  }
  return found
}
