import type { Scalar } from '../../filter/attributes.js'
import { compareScalars } from '../../filter/order.js'
import type { Microseconds } from '../../event/timestamp.js'
import type { AnyTextFilter, Find, IndexFilter, ValueRange } from './index-filter.js'
import { type IndexPart, Kind, type LineSearch, mayBeCut, type ValueEntry } from './part.js'
import {
  allOfPostings,
  anyOfPostings,
  EMPTY,
  exceptPostings,
  listPostings,
  type Postings,
  postingsBuilder,
  rangePostings,
} from './postings.js'
import { nextSpelling } from './next-spelling.js'

/** Work on an index, which may pause wherever it yields. */
export type Work<Result> = Generator<undefined, Result, undefined>

/** The times of the events with these ids; unknown ids are left out. */
export type TimesOf = (ids: readonly string[]) => readonly Microseconds[]

// Up to this number of candidates, checking the events is faster than reading another list, or a costly one.
const MAX_CANDIDATES_FOR_LIST = 16
const MAX_CANDIDATES_FOR_COSTLY_LIST = 256
/** Values between two points where the work may pause. */
const STEP = 256

/** The events of the part that may match the filter; without a filter all. Returned at once if that is little work. */
export function findPostings(
  part: IndexPart,
  filter: IndexFilter | undefined,
  timesOf: TimesOf,
): Postings | Work<Postings> {
  if (!filter) return rangePostings(0, part.size)
  return lookUp(part, filter, timesOf) ?? evaluate(part, filter, timesOf)
}

function withPartial(part: IndexPart, name: string, found: Postings): Postings {
  const partial = part.partial(name)
  return partial.size === 0 ? found : anyOfPostings([found, partial])
}

/** The result if it takes only a few reads, otherwise `undefined`. */
function lookUp(part: IndexPart, filter: IndexFilter, timesOf: TimesOf): Postings | undefined {
  if ('bounds' in filter) {
    const { from, to } = filter.bounds
    return rangePostings(part.countBefore(from), part.countBefore(to + 1))
  }
  if ('ids' in filter) return atTimes(part, timesOf(filter.ids))
  if (!('find' in filter)) return undefined
  const { name, find } = filter
  if (find.by === 'presence') return present(part, name, find.presence)
  if (find.by !== 'values') return undefined
  return withPartial(part, name, anyOfPostings(find.values.map((value) => part.find(name, value))))
}

function* evaluate(part: IndexPart, filter: IndexFilter, timesOf: TimesOf): Work<Postings> {
  const found = lookUp(part, filter, timesOf)
  if (found) return found
  if ('find' in filter) return yield* findIn(part, filter.name, filter.find)
  if ('among' in filter) return yield* withText(part, filter)
  if (!('parts' in filter)) return EMPTY
  if (filter.combinator === 'and') return yield* allOf(part, filter.parts, timesOf)
  const alternatives: Postings[] = []
  for (const one of filter.parts) alternatives.push(yield* evaluate(part, one, timesOf))
  return anyOfPostings(alternatives)
}

/** Rank of a filter by the work it takes. */
function cost(filter: IndexFilter): number {
  if ('find' in filter) {
    const { find } = filter
    if (find.by === 'test') return 4
    if (find.by === 'ranges') return 3
    return find.by === 'start' ? 2 : 1
  }
  // Longer texts are mostly rarer.
  if ('among' in filter) return 5 + 1 / (1 + filter.search.part.length)
  return 'parts' in filter ? Math.max(...filter.parts.map(cost)) : 0
}

/** Evaluates the cheapest filters first, and none that costs more than checking the events themselves. */
function* allOf(
  part: IndexPart,
  filters: readonly IndexFilter[],
  timesOf: TimesOf,
): Work<Postings> {
  const found: Postings[] = []
  let fewest = Infinity
  for (const filter of filters.toSorted((a, b) => cost(a) - cost(b))) {
    if (fewest <= (cost(filter) > 2 ? MAX_CANDIDATES_FOR_COSTLY_LIST : MAX_CANDIDATES_FOR_LIST))
      break
    const postings = yield* evaluate(part, filter, timesOf)
    if (postings.size === 0) return EMPTY
    fewest = Math.min(fewest, postings.size)
    found.push(postings)
  }
  return allOfPostings(found)
}

function atTimes(part: IndexPart, times: readonly Microseconds[]): Postings {
  const ordinals = times
    .map((time) => ({ time, ordinal: part.countBefore(time) }))
    .filter(({ time, ordinal }) => ordinal < part.size && part.timeOf(ordinal) === time)
    .map(({ ordinal }) => ordinal)
  return listPostings([...new Set(ordinals)].toSorted((a, b) => a - b))
}

function* findIn(part: IndexPart, name: string, find: Find): Work<Postings> {
  // Before the work may pause, as events that are added in the meantime may change it.
  const partial = part.partial(name)
  return anyOfPostings([partial, yield* inValues(part, name, find)])
}

function* inValues(part: IndexPart, name: string, find: Find): Work<Postings> {
  if (find.by === 'ranges') return yield* inRanges(part, name, find.ranges)
  if (find.by === 'start') return yield* startingWith(part, name, find)
  return find.by === 'test' ? yield* passing(part, name, find) : EMPTY
}

function* inRanges(part: IndexPart, name: string, ranges: readonly ValueRange[]): Work<Postings> {
  const builder = postingsBuilder(part.size)
  for (const { kind, from, to } of ranges) {
    let seen = 0
    for (const entry of part.values(name, kind, 'asc', from)) {
      if (to !== undefined && compareScalars(entry.value, to) > 0) break
      builder.addAll(entry.postings())
      if (++seen % STEP === 0) yield
    }
  }
  return builder.build()
}

function* startingWith(part: IndexPart, name: string, find: FindStart): Work<Postings> {
  const builder = postingsBuilder(part.size)
  let seen = 0
  for (const entry of entriesStartingWith(part, name, find)) {
    builder.addAll(entry.postings())
    if (++seen % STEP === 0) yield
  }
  return builder.build()
}

type FindStart = Extract<Find, { by: 'start' }>

/** The texts that start with the text, in any spelling. */
export function* entriesStartingWith(
  part: IndexPart,
  name: string,
  { text, test }: FindStart,
): Generator<ValueEntry, void> {
  const next = nextSpelling(text)
  const passes = (value: Scalar): boolean => test(value) === true
  for (let from = next(); from !== undefined;) {
    let last: string | undefined
    for (const entry of part.values(name, Kind.text, 'asc', from)) {
      last = entry.value as string
      if (!passes(last)) break
      yield entry
    }
    from = last === undefined || passes(last) ? undefined : next(last)
  }
}

/** The values of one type, with a search maybe without some that cannot match; `undefined` where the work may pause. */
export const entriesInAnyOrder = (
  part: IndexPart,
  name: string,
  kind: Kind,
  search?: LineSearch,
): Iterable<ValueEntry | undefined> =>
  (search && part.search?.(name, kind, search)) ??
  part.inAnyOrder?.(name, kind) ??
  part.values(name, kind, 'asc')

/** The events with such a text, and the events that may have more texts than are listed. */
function* withText(part: IndexPart, { among, passes, search }: AnyTextFilter): Work<Postings> {
  // Before the work may pause, as events that are added in the meantime may change it.
  const partial = part.partialTexts()
  const builder = postingsBuilder(part.size)
  let seen = 0
  for (const entry of part[among](search)) {
    if (entry && (passes(entry.value) === true || mayBeCut(entry.value)))
      builder.addAll(entry.postings())
    if (!entry || ++seen % STEP === 0) yield
  }
  return anyOfPostings([partial, builder.build()])
}

function* passing(
  part: IndexPart,
  name: string,
  { kinds, passes, search }: Extract<Find, { by: 'test' }>,
): Work<Postings> {
  const builder = postingsBuilder(part.size)
  let seen = 0
  for (const kind of kinds) {
    for (const entry of entriesInAnyOrder(part, name, kind, search)) {
      if (entry && passes(entry.value)) builder.addAll(entry.postings())
      if (!entry || ++seen % STEP === 0) yield
    }
  }
  return builder.build()
}

function present(
  part: IndexPart,
  name: string,
  presence: Extract<Find, { by: 'presence' }>['presence'],
): Postings {
  const valued = part.valued(name)
  const found = anyOfPostings([valued, part.containers(name)])
  if (presence === 'present') return withPartial(part, name, found)
  // `present` may overstate its size, as the two lists may overlap.
  const absent = valued.size === part.size ? EMPTY : exceptPostings(found, part.size)
  if (presence === 'absent') return absent
  return withPartial(part, name, anyOfPostings([absent, part.find(name, '')]))
}

/** All entries of all types, in ascending order. */
export function* allEntries(part: IndexPart, name: string): Generator<ValueEntry, void> {
  for (const kind of [Kind.boolean, Kind.number, Kind.text])
    yield* part.all?.(name, kind) ?? part.values(name, kind, 'asc')
}

/** The entries of all types in sort order. */
export function* sortedEntries(
  part: IndexPart,
  name: string,
  order: 'asc' | 'desc',
): Generator<ValueEntry, void> {
  const kinds = [Kind.boolean, Kind.number, Kind.text]
  for (const kind of order === 'asc' ? kinds : kinds.toReversed())
    yield* part.values(name, kind, order)
}
