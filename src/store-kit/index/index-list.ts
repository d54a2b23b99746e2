import type { AuditEvent } from '../../event/event.js'
import { SOURCE } from '../../event/own-fields.js'
import type { EventQuery, Sort } from '../../filter/ast.js'
import { eventAttributes } from '../../filter/attributes.js'
import type { TimeBounds } from '../../filter/bounds.js'
import { areFound, type SortKeys, sortKeys } from '../../filter/order.js'
import type { Decide } from '../../filter/steps.js'
import type { Microseconds } from '../../event/timestamp.js'
import { findPostings, type TimesOf } from './find-postings.js'
import { type IndexFilter, requiresAttribute } from './index-filter.js'
import { type FetchedPart, indexedValue, type Order } from './part.js'
import { allOfPostings, anyOfPostings, type FetchedPostings } from './postings.js'
import { inSortOrder, type SortedTime } from './sort-order.js'
import { inTimeOrder, overlaps, type PartPostings, timesOfSets } from './time-order.js'
import { readAll, ready, WAIT, type Work } from './work.js'

/** The index of a log at one moment, and access to the events. */
export interface IndexView {
  readonly parts: readonly FetchedPart[]
  /** The current event; `undefined` if it was removed. */
  eventAt(time: Microseconds): AuditEvent | undefined
  readonly timesOf: TimesOf
  /** Called for each part that is searched. */
  readonly onOpen?: (part: FetchedPart) => void
}

/**
 * The events that may match, in the order of time; `undefined` where the work may pause. An event that is
 * removed or added in the meantime may be missing.
 */
export function* candidatesInTime(
  view: IndexView,
  filter: IndexFilter | undefined,
  order: Order,
  bounds: TimeBounds,
): Generator<AuditEvent | undefined, void, undefined> {
  const open = (part: FetchedPart): FetchedPostings | Work<FetchedPostings> => {
    view.onOpen?.(part)
    return findPostings(part, filter, view.timesOf)
  }
  for (const time of inTimeOrder(view.parts, open, order, bounds))
    yield typeof time === 'number' ? view.eventAt(time) : undefined
}

/** Cost of checking an event, relative to one step along a sort order. */
const EVENT_COST = 5
// Following a sort order stops after this many steps for each candidate, plus `EXTRA_STEPS`.
const MAX_STEPS_PER_CANDIDATE = 8
const EXTRA_STEPS = 1000

/** The events that may match, by part. */
export interface Candidates {
  readonly sets: readonly PartPostings[]
  /** About how many events may match. */
  readonly count: number
  /** Number of events in the parts that were searched. */
  readonly searched: number
}

function* candidatesOf(
  { parts, timesOf, onOpen }: IndexView,
  filter: IndexFilter | undefined,
  bounds: TimeBounds,
): Work<Candidates> {
  const sets: PartPostings[] = []
  let [count, searched] = [0, 0]
  for (const part of parts) {
    if (!overlaps(part, bounds)) continue
    onOpen?.(part)
    const found = findPostings(part, filter, timesOf)
    const postings = 'seek' in found ? found : yield* found
    if (postings.size > 0) sets.push({ part, postings })
    count += postings.size
    searched += part.size
    yield
  }
  return { sets, count, searched }
}

/** True if following the sort order finds a page sooner than checking all candidates. */
export const shouldFollowOrder = (
  { count, searched }: Pick<Candidates, 'count' | 'searched'>,
  limit: number,
): boolean => count * count * EVENT_COST > limit * searched

/** True if an index has the order; it has no ids. */
export const isIndexedOrder = (sorts: readonly Sort[]): boolean =>
  sorts.every(({ attribute }) => attribute !== 'id' && attribute !== SOURCE)

/** A query in the order of its sorts. */
export interface SortedSearch {
  readonly filter: IndexFilter | undefined
  readonly query: EventQuery
  readonly bounds: TimeBounds
  /** Is given events that may match, none twice. */
  readonly matches: Decide<AuditEvent>
  /** Receives the events that match. */
  readonly add: Decide<AuditEvent>
}

/** Matching events that were not reached at their place in the order yet; `undefined` for other events. */
type CheckedEvents = Map<Microseconds, AuditEvent | undefined>

function* checkEvent(
  checked: CheckedEvents,
  time: Microseconds,
  { eventAt, matches, add }: Pick<IndexView & SortedSearch, 'eventAt' | 'matches' | 'add'>,
): Work<AuditEvent | undefined> {
  if (checked.has(time)) return checked.get(time)
  const event = eventAt(time)
  const decision = event !== undefined && matches(event)
  const isMatch = typeof decision === 'boolean' ? decision : yield* decision
  const matching = isMatch ? event : undefined
  if (matching) {
    const added = add(matching)
    if (typeof added !== 'boolean') yield* added
  }
  checked.set(time, matching)
  return matching
}

/** Passes events to `add` until the first `limit + 1` matches in the query's order are among them, or all. */
export function* takeSorted(view: IndexView, search: SortedSearch): Work<void> {
  const candidates = yield* candidatesOf(view, search.filter, search.bounds)
  yield* takeSortedOf(view, candidates, search)
}

/** {@link takeSorted} for candidates that have been found already. */
export function* takeSortedOf(
  { eventAt }: Pick<IndexView, 'eventAt'>,
  { sets, count, searched }: Candidates,
  { filter, query: { sorts, limit }, bounds, matches, add }: SortedSearch,
): Work<void> {
  const checked: CheckedEvents = new Map()
  const check = (time: Microseconds): Work<AuditEvent | undefined> =>
    checkEvent(checked, time, { eventAt, matches, add })

  if (shouldFollowOrder({ count, searched }, limit)) {
    // The order does not lead to them at their place.
    for (const time of timesOfSets(yield* partialSets(sets, sorts), 'asc', bounds)) {
      if (typeof time === 'number') yield* check(time)
      yield time === WAIT ? WAIT : undefined
    }
    const keysOf = sortKeys(eventAttributes, sorts)
    let steps = 0
    let found = 0
    const isFull = (): boolean =>
      found > limit || steps > count * MAX_STEPS_PER_CANDIDATE + EXTRA_STEPS
    const requires = (name: string): boolean => requiresAttribute(filter, name)
    for (const sorted of inSortOrder(sets, sorts, { bounds, isFull, requires })) {
      if (sorted === WAIT) {
        yield WAIT
        continue
      }
      steps += 1
      const event = sorted && (yield* check(sorted.time))
      if (event) {
        const keys = keysOf(event)
        if (isInPlace(sorted, areFound(keys) ? keys : yield* keys)) {
          found += 1
          checked.set(sorted.time, undefined)
        }
      }
      yield
    }
    if (!isFull() || found > limit) return
  }
  for (const time of timesOfSets(sets, 'asc', bounds)) {
    if (typeof time === 'number') yield* check(time)
    yield time === WAIT ? WAIT : undefined
  }
}

/** The events of the sets that may have more values to sort by than are listed. */
const partialSets = (
  sets: readonly PartPostings[],
  sorts: readonly Sort[],
): Work<readonly PartPostings[]> =>
  readAll(
    sets.map(({ part, postings }) => () => {
      const partial = ready(sorts.map(({ attribute }) => part.partial(attribute)))
      return partial && { part, postings: allOfPostings([anyOfPostings(partial), postings]) }
    }),
  )

/** True if an event with the sort keys `own` still has the values at which the index lists it. */
const isInPlace = ({ keys }: SortedTime, own: SortKeys): boolean =>
  keys.every((key, i) => {
    const value = own[i]
    return (value === undefined ? value : indexedValue(value)) === key
  })
