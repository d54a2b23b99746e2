import type { Scalar } from '../../filter/attributes.js'
import { compareScalars } from '../../filter/order.js'
import type { Microseconds } from '../../event/timestamp.js'
import type { AnyTextFilter, Find, IndexFilter, ValueRange } from './index-filter.js'
import { type FetchedPart, Kind, type LineSearch, mayBeCut, type ValueEntry } from './part.js'
import {
  allOfPostings,
  anyOfPostings,
  EMPTY,
  exceptPostings,
  type FetchedPostings,
  listPostings,
  postingsBuilder,
  rangePostings,
} from './postings.js'
import { nextSpelling } from './next-spelling.js'
import {
  readOne,
  ready,
  type Stream,
  streamOf,
  together,
  WAIT,
  type Wait,
  type Work,
} from './work.js'

/** The times of the events with these ids; unknown ids are left out. */
export type TimesOf = (ids: readonly string[]) => readonly Microseconds[]

// Up to this number of candidates, checking the events is faster than reading another list, or a costly one.
const MAX_CANDIDATES_FOR_LIST = 16
const MAX_CANDIDATES_FOR_COSTLY_LIST = 256
/** Values between two points where the work may pause. */
const STEP = 256

/** The events of the part that may match the filter; without a filter all. Returned at once if that is little work. */
export function findPostings(
  part: FetchedPart,
  filter: IndexFilter | undefined,
  timesOf: TimesOf,
): FetchedPostings | Work<FetchedPostings> {
  if (!filter) return rangePostings(0, part.size)
  return lookUp(part, filter, timesOf) ?? evaluate(part, filter, timesOf)
}

/** The result if it takes only a few reads, otherwise `undefined`. */
function lookUp(
  part: FetchedPart,
  filter: IndexFilter,
  timesOf: TimesOf,
): FetchedPostings | Wait | undefined {
  if ('bounds' in filter) {
    const ends = ready(
      [filter.bounds.from, filter.bounds.to + 1].map((time) => part.countBefore(time)),
    )
    return ends && rangePostings(ends[0]!, ends[1]!)
  }
  if ('ids' in filter) return atTimes(part, timesOf(filter.ids))
  if (!('find' in filter)) return undefined
  const { name, find } = filter
  if (find.by === 'presence') return present(part, name, find.presence)
  if (find.by !== 'values') return undefined
  return anyOfReady([part.partial(name), ...find.values.map((value) => part.find(name, value))])
}

function anyOfReady(sets: readonly (FetchedPostings | Wait)[]): FetchedPostings | Wait {
  const found = ready(sets)
  return found && anyOfPostings(found)
}

function* evaluate(
  part: FetchedPart,
  filter: IndexFilter,
  timesOf: TimesOf,
): Work<FetchedPostings> {
  let found = lookUp(part, filter, timesOf)
  for (; found === WAIT; found = lookUp(part, filter, timesOf)) yield WAIT
  if (found) return found
  if ('find' in filter) return yield* findIn(part, filter.name, filter.find)
  if ('among' in filter) return yield* withText(part, filter)
  if (!('parts' in filter)) return EMPTY
  if (filter.combinator === 'and') return yield* allOf(part, filter.parts, timesOf)
  const alternatives: FetchedPostings[] = []
  for (const one of evaluateAll(part, filter.parts, timesOf))
    if (one) alternatives.push(one)
    else yield one
  return anyOfPostings(alternatives)
}

/** Evaluates those first that need not wait. */
function* evaluateAll(
  part: FetchedPart,
  filters: readonly IndexFilter[],
  timesOf: TimesOf,
): Generator<FetchedPostings | Wait | undefined, void, undefined> {
  const others: IndexFilter[] = []
  for (const filter of filters) {
    const found = lookUp(part, filter, timesOf)
    if (found) yield found
    else others.push(filter)
  }
  if (others.length > 0)
    yield* together(others.map((filter) => () => streamOf(evaluate(part, filter, timesOf))))
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
  part: FetchedPart,
  filters: readonly IndexFilter[],
  timesOf: TimesOf,
): Work<FetchedPostings> {
  const found: FetchedPostings[] = []
  let fewest = Infinity
  for (const some of inStages(filters)) {
    const isCostly = cost(some[0]!) > 2
    if (fewest <= (isCostly ? MAX_CANDIDATES_FOR_COSTLY_LIST : MAX_CANDIDATES_FOR_LIST)) break
    for (const postings of evaluateAll(part, some, timesOf)) {
      if (!postings) {
        yield postings
        continue
      }
      if (postings.size === 0) return EMPTY
      fewest = Math.min(fewest, postings.size)
      found.push(postings)
      if (fewest <= MAX_CANDIDATES_FOR_LIST) break
    }
  }
  return allOfPostings(found)
}

/** The filters by cost. Those that take a few reads are evaluated together, the others one by one, as they may not be needed. */
function inStages(filters: readonly IndexFilter[]): readonly (readonly IndexFilter[])[] {
  const byCost = filters.toSorted((a, b) => cost(a) - cost(b))
  const lookups = byCost.filter((filter) => cost(filter) <= 1)
  const others = byCost.slice(lookups.length).map((filter) => [filter])
  return lookups.length > 0 ? [lookups, ...others] : others
}

function atTimes(part: FetchedPart, times: readonly Microseconds[]): FetchedPostings | Wait {
  const counts = ready(times.map((time) => part.countBefore(time)))
  if (counts === WAIT) return WAIT
  const within = counts.filter((ordinal) => ordinal < part.size)
  const found = ready(within.map((ordinal) => part.timeOf(ordinal)))
  if (found === WAIT) return WAIT
  const ordinals = new Set(within.filter((_, i) => times.includes(found[i]!)))
  return listPostings([...ordinals].toSorted((a, b) => a - b))
}

function* findIn(part: FetchedPart, name: string, find: Find): Work<FetchedPostings> {
  // Before the work may pause, as events that are added in the meantime may change it.
  const partial = part.partial(name)
  const found = yield* inValues(part, name, find)
  return anyOfPostings([partial ?? (yield* readOne(() => part.partial(name))), found])
}

function* inValues(part: FetchedPart, name: string, find: Find): Work<FetchedPostings> {
  if (find.by === 'ranges') return yield* inRanges(part, name, find.ranges)
  if (find.by === 'start') return yield* startingWith(part, name, find)
  return find.by === 'test' ? yield* passing(part, name, find) : EMPTY
}

function* inRanges(
  part: FetchedPart,
  name: string,
  ranges: readonly ValueRange[],
): Work<FetchedPostings> {
  const entries = together(ranges.map((range) => () => entriesInRange(part, name, range)))
  return yield* allEvents(part, entries)
}

const startingWith = (part: FetchedPart, name: string, find: FindStart): Work<FetchedPostings> =>
  allEvents(part, entriesStartingWith(part, name, find))

/** The events of the entries that pass. */
function* allEvents(
  part: FetchedPart,
  entries: Stream<ValueEntry>,
  passes: (value: Scalar) => boolean | undefined = () => true,
): Work<FetchedPostings> {
  const builder = postingsBuilder(part.size)
  let seen = 0
  for (const entry of entries) {
    if (entry && passes(entry.value)) {
      const postings = entry.postings()
      while (builder.addAll(postings) === WAIT) yield WAIT
    }
    if (!entry) yield entry
    else if (++seen % STEP === 0) yield
  }
  return builder.build()
}

/** The values within the range. */
export const entriesInRange = (
  part: FetchedPart,
  name: string,
  { kind, from, to }: ValueRange,
): Stream<ValueEntry> => {
  const entries = part.values(name, kind, 'asc', from)
  return to === undefined ? entries : entriesUpTo(entries, to)
}

function* entriesUpTo(entries: Stream<ValueEntry>, to: Scalar): Entries {
  for (const entry of entries) {
    if (entry && compareScalars(entry.value, to) > 0) return
    yield entry
  }
}

type Entries = Generator<ValueEntry | Wait | undefined, void, undefined>

type FindStart = Extract<Find, { by: 'start' }>

/** The texts that start with the text, in any spelling. */
export function* entriesStartingWith(
  part: FetchedPart,
  name: string,
  { text, test }: FindStart,
): Entries {
  const next = nextSpelling(text)
  const passes = (value: Scalar): boolean => test(value) === true
  for (let from = next(); from !== undefined;) {
    let last: string | undefined
    for (const entry of part.values(name, Kind.text, 'asc', from)) {
      if (entry) {
        last = entry.value as string
        if (!passes(last)) break
      }
      yield entry
    }
    from = last === undefined || passes(last) ? undefined : next(last)
  }
}

/** The values of one type, with a search maybe without some that cannot match. */
export const entriesInAnyOrder = (
  part: FetchedPart,
  name: string,
  kind: Kind,
  search?: LineSearch,
): Stream<ValueEntry> =>
  (search && part.search?.(name, kind, search)) ??
  part.inAnyOrder?.(name, kind) ??
  part.values(name, kind, 'asc')

/** The events with such a text, and the events that may have more texts than are listed. */
function* withText(
  part: FetchedPart,
  { among, passes, search }: AnyTextFilter,
): Work<FetchedPostings> {
  // Before the work may pause, as events that are added in the meantime may change it.
  const partial = part.partialTexts()
  const mayPass = (value: Scalar): boolean => passes(value) === true || mayBeCut(value)
  const found = yield* allEvents(part, part[among](search), mayPass)
  return anyOfPostings([partial ?? (yield* readOne(() => part.partialTexts())), found])
}

const passing = (
  part: FetchedPart,
  name: string,
  { kinds, passes, search }: Extract<Find, { by: 'test' }>,
): Work<FetchedPostings> => {
  const streams = kinds.map((kind) => () => entriesInAnyOrder(part, name, kind, search))
  return allEvents(part, together(streams), passes)
}

function present(
  part: FetchedPart,
  name: string,
  presence: Extract<Find, { by: 'presence' }>['presence'],
): FetchedPostings | Wait {
  const lists = ready([part.valued(name), part.containers(name)])
  if (presence === 'present') return anyOfReady([part.partial(name), lists && anyOfPostings(lists)])
  const isInAll = lists?.[0]!.size === part.size
  // The union may overstate its size, as the two lists may overlap.
  const absent = isInAll ? EMPTY : lists && exceptPostings(anyOfPostings(lists), part.size)
  return presence === 'absent'
    ? absent
    : anyOfReady([absent, part.partial(name), part.find(name, '')])
}

/** All entries of all types, in ascending order. */
export function* allEntries(part: FetchedPart, name: string): Entries {
  for (const kind of [Kind.boolean, Kind.number, Kind.text])
    yield* part.all?.(name, kind) ?? part.values(name, kind, 'asc')
}

/** The entries of all types in sort order. */
export function* sortedEntries(part: FetchedPart, name: string, order: 'asc' | 'desc'): Entries {
  const kinds = [Kind.boolean, Kind.number, Kind.text]
  for (const kind of order === 'asc' ? kinds : kinds.toReversed())
    yield* part.values(name, kind, order)
}
