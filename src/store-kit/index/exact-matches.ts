import type { Scalar } from '../../filter/attributes.js'
import { scalarTest, type ValueTestName } from '../../filter/evaluate.js'
import { isTextTest } from '../../filter/predicates.js'
import {
  type BitSet,
  addRange,
  emptySet,
  intersect,
  invert,
  sizeOfSet,
  subtract,
  unite,
} from './bit-set.js'
import type { ExactFilter, ExactTest } from './exact-filter.js'
import {
  allEntries,
  entriesInAnyOrder,
  entriesInRange,
  entriesStartingWith,
} from './find-postings.js'
import {
  type AnyTextFilter,
  type Find,
  findValue,
  searchSourceStarts,
  searchTexts,
} from './index-filter.js'
import { type FetchedPart, Kind, mayBeCut, type ValueEntry } from './part.js'
import { addToSet, countInSet, type FetchedPostings } from './postings.js'
import {
  readAll,
  readOne,
  type Stream,
  streamOf,
  together,
  WAIT,
  type Wait,
  type Work,
} from './work.js'

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
export function* exactMatches(part: FetchedPart, filter: ExactFilter): Work<BitSet | undefined> {
  if ('name' in filter) return yield* matchesOf(part, filter)
  if ('anyText' in filter) return yield* matchesOfText(part, filter)
  if ('oneValueOf' in filter) return yield* matchesWithOneValue(part, filter)
  if ('joinedName' in filter) return yield* joinedMatches(part, filter)
  const { combinator, parts } = filter
  let found: BitSet | undefined
  for (const set of together(
    parts.map((one) => () => streamOf(orFalse(exactMatches(part, one)))),
  )) {
    if (set === false) return undefined
    if (!set) yield set
    else if (!found) found = set
    else if (combinator === 'and') intersect(found, set)
    else unite(found, set)
    yield
  }
  return found ?? allEvents(part)
}

function* orFalse(work: Work<BitSet | undefined>): Work<BitSet | false> {
  return (yield* work) ?? false
}

function allEvents({ size }: FetchedPart): BitSet {
  const set = emptySet(size)
  addRange(set, 0, size)
  return set
}

function* joinedMatches(
  part: FetchedPart,
  { joinedName, whole, apart }: Extract<ExactFilter, { joinedName: string }>,
): Work<BitSet | undefined> {
  if ((yield* readOne(() => part.partial(joinedName))).size > 0) return undefined
  const found = yield* exactMatches(part, apart)
  const ofWhole = yield* exactMatches(part, whole)
  if (!found || !ofWhole) return undefined
  const hasName = yield* presentIn(part, joinedName)
  subtract(found, hasName)
  intersect(ofWhole, hasName)
  unite(found, ofWhole)
  return found
}

/** `undefined` if an event that passes has several values, or an object or array. */
function* matchesWithOneValue(
  part: FetchedPart,
  { oneValueOf: name, passing }: Extract<ExactFilter, { oneValueOf: string }>,
): Work<BitSet | undefined> {
  const found = yield* exactMatches(part, passing)
  if (!found) return undefined
  const size = sizeOfSet(found)
  if (size === 0) return found
  const containers = yield* readOne(() => part.containers(name))
  if ((yield* readOne(() => countInSet(containers, found))) > 0) return undefined
  if (yield* haveOneValueEach(part, name)) return found
  let values = 0
  for (const entry of allEntries(part, name)) {
    if (entry) {
      const postings = entry.postings()
      values += yield* readOne(() => countInSet(postings, found))
    }
    yield entry === WAIT ? WAIT : undefined
  }
  return values === size ? found : undefined
}

/** True if each event of the part has at most one value of the name. */
function* haveOneValueEach(part: FetchedPart, name: string): Work<boolean> {
  const valued = yield* readOne(() => part.valued(name))
  let values = 0
  for (const entry of allEntries(part, name)) {
    if (entry) values += entry.size
    if (values > valued.size) return false
    yield entry === WAIT ? WAIT : undefined
  }
  return true
}

function* setOf(
  { size }: FetchedPart,
  ...all: readonly (() => FetchedPostings | Wait)[]
): Work<BitSet> {
  const set = emptySet(size)
  for (const postings of yield* readAll(all)) while (addToSet(postings, set) === WAIT) yield WAIT
  return set
}

const presentIn = (part: FetchedPart, name: string): Work<BitSet> =>
  setOf(
    part,
    () => part.valued(name),
    () => part.containers(name),
  )

function* matchesOf(
  part: FetchedPart,
  { name, predicate, values }: ExactTest,
): Work<BitSet | undefined> {
  const partial = part.partial(name)
  if (partial && partial.size > 0) return undefined
  const found = yield* matchesOfListed(part, { name, predicate, values })
  return (partial ?? (yield* readOne(() => part.partial(name))).size === 0) ? found : undefined
}

function* matchesOfListed(
  part: FetchedPart,
  { name, predicate, values }: ExactTest,
): Work<BitSet | undefined> {
  const { test, negated } = predicate
  if (test === 'null' || test === 'blank') {
    const found = yield* test === 'null' ? presentIn(part, name) : filledIn(part, name)
    if (found && !negated) invert(found, part.size)
    return found
  }
  const passing = yield* passingIn(part, name, test, values)
  if (!passing || !negated) return passing
  // A value to which a test of text does not apply refutes the negated test.
  const others = isTextTest(test) ? yield* anyOf(part, name, [Kind.boolean, Kind.number]) : passing
  if (!others) return undefined
  const found = yield* setOf(part, () => part.valued(name))
  subtract(found, passing)
  subtract(found, others)
  return found
}

function* matchesOfText(
  part: FetchedPart,
  { anyText, negated }: Extract<ExactFilter, { anyText: string }>,
): Work<BitSet | undefined> {
  if (mayBeCut(anyText) || (yield* readOne(() => part.partialTexts())).size > 0) return undefined
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
  part: FetchedPart,
  { among, passes, search }: AnyTextFilter,
): Work<BitSet | undefined> =>
  addEntries(part, part[among](search), (value) => passes(value) === true)

/** The events with a value of these types that passes. */
function* anyOf(
  part: FetchedPart,
  name: string,
  kinds: readonly Kind[],
  passes: (value: Scalar) => boolean = () => true,
): Work<BitSet | undefined> {
  const streams = kinds.map((kind) => () => entriesInAnyOrder(part, name, kind))
  return yield* addEntries(part, together(streams), passes)
}

const ALL_KINDS = [Kind.boolean, Kind.number, Kind.text]

/** The events that are not blank in the attribute: with a value other than `''`, or with members and no value. */
function* filledIn(part: FetchedPart, name: string): Work<BitSet | undefined> {
  const found = yield* anyOf(part, name, ALL_KINDS, (value) => value !== '')
  if (!found) return undefined
  const withMembers = yield* setOf(part, () => part.containers(name))
  subtract(withMembers, yield* setOf(part, () => part.valued(name)))
  unite(found, withMembers)
  return found
}

/** The events with a value that passes the test. */
function* passingIn(
  part: FetchedPart,
  name: string,
  test: ValueTestName,
  texts: readonly string[],
): Work<BitSet | undefined> {
  if (texts.some(mayBeCut)) return undefined
  const find = findValue(test, texts)
  if (find.by === 'values') {
    const found = emptySet(part.size)
    const finds = find.values.map((value) => () => streamOf(readOne(() => part.find(name, value))))
    for (const postings of together(finds)) {
      if (postings) while (addToSet(postings, found) === WAIT) yield WAIT
      yield postings === WAIT ? WAIT : undefined
    }
    return found
  }
  const passes = scalarTest(test, texts)
  const isPassing = (value: Scalar): boolean => passes(value) === true
  return yield* addEntries(part, entriesOf(part, name, find), isPassing)
}

/** All entries with a value that passes, and maybe others. */
function entriesOf(part: FetchedPart, name: string, find: Find): Stream<ValueEntry> {
  if (find.by === 'ranges')
    return together(find.ranges.map((range) => () => entriesInRange(part, name, range)))
  if (find.by === 'test')
    return together(
      find.kinds.map((kind) => () => entriesInAnyOrder(part, name, kind, find.search)),
    )
  return find.by === 'start' ? entriesStartingWith(part, name, find) : []
}

/** Adds the events of the entries that pass. `undefined` if there are too many, or if one may be cut. */
function* addEntries(
  { size }: Pick<FetchedPart, 'size'>,
  entries: Stream<ValueEntry>,
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
        while (addToSet(postings, found) === WAIT) yield WAIT
        units += LIST_UNITS + postings.size
      }
    }
    if (entry && tested % STEP > 0 && units < MAX_UNITS) continue
    yield entry === WAIT ? WAIT : undefined
    units = 0
  }
  return found
}
