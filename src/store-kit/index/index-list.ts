import type { AuditEvent } from '../../event/event.js'
import type { EventQuery, Sort } from '../../filter/ast.js'
import { eventAttributes } from '../../filter/attributes.js'
import type { TimeBounds } from '../../filter/bounds.js'
import { sortKey } from '../../filter/order.js'
import type { Microseconds } from '../../event/timestamp.js'
import { findPostings, type TimesOf, type Work } from './find-postings.js'
import { type IndexFilter, requiresAttribute } from './index-filter.js'
import { indexedValue, type IndexPart, type Order } from './part.js'
import { NONE, type Postings } from './postings.js'
import { inSortOrder, type SortedTime } from './sort-order.js'
import { inTimeOrder, overlaps, type PartPostings, timesOfSets } from './time-order.js'

/** The index of a log at some moment, and the events that it leads to. */
export interface IndexView {
  readonly parts: readonly IndexPart[]
  /** As it is now; `undefined` where it was removed. */
  eventAt(time: Microseconds): AuditEvent | undefined
  readonly timesOf: TimesOf
  /** Told of each part that is looked into. */
  readonly onOpen?: (part: IndexPart) => void
}

/**
 * The events that may match, in the order of time; `undefined` where the work may be laid down. An event
 * that is removed meanwhile may be missing, one that is added later too.
 */
export function* candidatesInTime(
  view: IndexView,
  filter: IndexFilter | undefined,
  order: Order,
  bounds: TimeBounds,
): Generator<AuditEvent | undefined, void, undefined> {
  const open = (part: IndexPart): Postings | Work<Postings> => {
    view.onOpen?.(part)
    return findPostings(part, filter, view.timesOf)
  }
  for (const time of inTimeOrder(view.parts, open, order, bounds))
    yield time === undefined ? undefined : view.eventAt(time)
}

// What it takes to look at an event, measured by what it takes to go on by one in an order.
const EVENT_COST = 5
// Beyond so many steps for each event there is, an order is not what leads to them.
const MOST_STEPS = 8
const SOME_STEPS = 1000

/** The events that may match, by part, and about how many of how many they are. */
export interface Candidates {
  readonly sets: readonly PartPostings[]
  readonly count: number
  readonly of: number
}

function* candidatesOf(
  { parts, timesOf, onOpen }: IndexView,
  filter: IndexFilter | undefined,
  bounds: TimeBounds,
): Work<Candidates> {
  const sets: PartPostings[] = []
  let [count, of] = [0, 0]
  for (const part of parts) {
    if (!overlaps(part, bounds)) continue
    onOpen?.(part)
    const found = findPostings(part, filter, timesOf)
    const postings = 'seek' in found ? found : yield* found
    if (postings.size > 0) sets.push({ part, postings })
    count += postings.size
    of += part.size
    yield
  }
  return { sets, count, of }
}

/** Whether the order leads to the first sooner than to look at all of the candidates does. */
export const goesAlong = (
  { count, of }: Pick<Candidates, 'count' | 'of'>,
  limit: number,
): boolean => count * count * EVENT_COST > limit * of

/** Ids are in no index. */
export const isIndexedOrder = (sorts: readonly Sort[]): boolean =>
  sorts.every(({ attribute }) => attribute !== 'id')

/**
 * Gives `take` events that may match, none twice, which says whether one does: so many that those are
 * among them which come first in the query's order, or all.
 */
export function* takeSorted(
  view: IndexView,
  filter: IndexFilter | undefined,
  query: EventQuery,
  bounds: TimeBounds,
  take: (event: AuditEvent) => boolean,
): Work<void> {
  yield* takeSortedOf(view, yield* candidatesOf(view, filter, bounds), filter, query, bounds, take)
}

/** As {@link takeSorted}, of candidates that have been found. */
export function* takeSortedOf(
  { eventAt }: Pick<IndexView, 'eventAt'>,
  { sets, count, of }: Candidates,
  filter: IndexFilter | undefined,
  { sorts, limit }: EventQuery,
  bounds: TimeBounds,
  take: (event: AuditEvent) => boolean,
): Work<void> {
  /** Those that match and have not been met in their place yet, `undefined` for the others. */
  const met = new Map<Microseconds, AuditEvent | undefined>()
  const meet = (time: Microseconds): AuditEvent | undefined => {
    if (met.has(time)) return met.get(time)
    const event = eventAt(time)
    const matching = event && take(event) ? event : undefined
    met.set(time, matching)
    return matching
  }

  if (goesAlong({ count, of }, limit)) {
    for (const { part } of sets)
      for (const time of unindexedTimes(part))
        if (time >= bounds.from && time <= bounds.to) meet(time)
    const isInPlace = placeTest(sorts)
    let steps = 0
    let found = 0
    const isFull = (): boolean => found > limit || steps > count * MOST_STEPS + SOME_STEPS
    const requires = (name: string): boolean => requiresAttribute(filter, name)
    for (const sorted of inSortOrder(sets, sorts, { bounds, isFull, requires })) {
      steps += 1
      const event = sorted && meet(sorted.time)
      if (event && isInPlace(event, sorted.keys)) {
        found += 1
        met.set(sorted.time, undefined)
      }
      yield
    }
    if (!isFull() || found > limit) return
  }
  for (const time of timesOfSets(sets, 'asc', bounds)) {
    if (time !== undefined) meet(time)
    yield
  }
}

function* unindexedTimes(part: IndexPart): Generator<Microseconds, void> {
  const { unindexed } = part
  for (let at = unindexed.seek(0, 1); at !== NONE; at = unindexed.seek(at + 1, 1))
    yield part.timeOf(at)
}

/** Whether an event still has the values by which the index has put it where it is met. */
function placeTest(
  sorts: readonly Sort[],
): (event: AuditEvent, keys: SortedTime['keys']) => boolean {
  const keysOf = sorts.map((sort) => sortKey(eventAttributes, sort))
  return (event, keys) =>
    keys.every((key, i) => {
      const own = keysOf[i]!(event)
      return (own === undefined ? own : indexedValue(own)) === key
    })
}
