import { beyond, type TimeBounds } from '../../filter/bounds.js'
import type { Microseconds } from '../../event/timestamp.js'
import type { QueryTrace } from '../../store/trace.js'
import { findPostings } from '../index/find-postings.js'
import { type IndexFilter, isLookup } from '../index/index-filter.js'
import type { IndexView } from '../index/index-list.js'
import type { FetchedPart, Order } from '../index/part.js'
import { tracedView } from '../index/traced-view.js'
import { overlaps, type PartPostings, timesOfSets } from '../index/time-order.js'
import type { Work } from '../index/work.js'

/** Thrown if a query would read too much of the index, or for too long: it goes on without the index. */
export const READ_LIMIT_EXCEEDED = new Error('too much of the index would be read')

/** Thrown if parts that a session has are gone: the query opens another session for what is left. */
export const INDEX_CHANGED = new Error('the index has changed since the query has begun to read it')

/** Work on the index. It may be started again. */
export type Task<Result> = () => Result | Work<Result>

export const isWork = <Result>(value: Result | Work<Result>): value is Work<Result> =>
  typeof value === 'object' && value !== null && Symbol.iterator in value && 'next' in value

export interface Tasks {
  /** Runs independent tasks. Returns their results in order. */
  all<Result>(tasks: readonly Task<Result>[]): Promise<Result[]>
  one<Result>(task: Task<Result>): Promise<Result>
}

/** Reads the index for one query. Its methods may throw {@link READ_LIMIT_EXCEEDED} and {@link INDEX_CHANGED}. */
export interface IndexSession {
  readonly parts: readonly FetchedPart[]
  readonly tasks: Tasks
  /** The events of these parts that may match; parts without any are left out. */
  find(parts: readonly FetchedPart[]): Promise<PartPostings[]>
  /** The first times of the sets within the bounds, at most `max`. */
  timesOf(
    sets: readonly PartPostings[],
    order: Order,
    bounds: TimeBounds,
    max: number,
  ): Promise<readonly Microseconds[]>
  /** Drops what was read for earlier tasks only. */
  release(): void
  /** The index and the events, if a task can read an event at once. Lists then read each event when they reach it. */
  readonly view?: IndexView | undefined
}

/** Compares parts by the event that comes first in the given order. */
export const compareStarts = (a: FetchedPart, b: FetchedPart, order: Order): number =>
  order === 'asc' ? a.first - b.first : b.last - a.last

/** The first times of the sets within the bounds, at most `max`. */
export function* takeTimes(
  sets: readonly PartPostings[],
  order: Order,
  bounds: TimeBounds,
  max: number,
): Work<readonly Microseconds[]> {
  const times: Microseconds[] = []
  for (const time of timesOfSets(sets, order, bounds)) {
    if (typeof time !== 'number') yield time
    else if (times.push(time) >= max) break
  }
  return times
}

interface ViewOptions {
  readonly tasks: Tasks
  readonly filter: IndexFilter | undefined
  readonly trace: QueryTrace | undefined
}

/** Opens the index for a query whose tasks can read each event at once. */
export function openView(given: IndexView, { tasks, filter, trace }: ViewOptions): IndexSession {
  const view = tracedView(given, trace)
  const { parts, timesOf } = view
  return {
    parts,
    tasks,
    view,
    async find(some) {
      const found = await tasks.all(some.map((part) => () => findPostings(part, filter, timesOf)))
      return some
        .map((part, i) => ({ part, postings: found[i]! }))
        .filter(({ postings }) => postings.size > 0)
    },
    timesOf(sets, order, bounds, max) {
      const sorted = sets.toSorted((a, b) => compareStarts(a.part, b.part, order))
      return tasks.one(() => takeTimes(sorted, order, bounds, max))
    },
    release() {},
  }
}

/** Number of parts, in the order of time, that are searched first. A lookup reads little of each. */
export interface FirstParts {
  readonly forLookups: number
  readonly forSearches: number
}

const ONE_PART: FirstParts = { forLookups: 1, forSearches: 1 }
/** Each further search takes this many times as many parts. */
const PARTS_GROWTH = 4

export interface TimesRequest {
  readonly filter: IndexFilter | undefined
  readonly order: Order
  readonly bounds: TimeBounds
  readonly firstParts?: FirstParts | undefined
  readonly max: () => number
}

/**
 * The times of the events that may match, in order, at most `max()` at a time. A part is searched once the order has
 * reached its first event.
 */
export async function* timesInOrder(
  session: IndexSession,
  { filter, order, bounds, firstParts = ONE_PART, max }: TimesRequest,
): AsyncGenerator<readonly Microseconds[]> {
  const waiting = session.parts
    .filter((part) => overlaps(part, bounds))
    .toSorted((a, b) => compareStarts(b, a, order))
  let ready: readonly PartPostings[] = []
  let rest = bounds
  const { forLookups, forSearches } = firstParts
  for (let count = isLookup(filter) ? forLookups : forSearches; ; count *= PARTS_GROWTH) {
    ready = ready.concat(await session.find(waiting.splice(-count)))
    const next = waiting.at(-1)
    const isRising = order === 'asc'
    const end = next && (isRising ? next.first - 1 : next.last + 1)
    // The times before the first part that has not been searched.
    let range = {
      from: isRising || end === undefined ? rest.from : Math.max(end, rest.from),
      to: isRising && end !== undefined ? Math.min(end, rest.to) : rest.to,
    }
    while (ready.length > 0 && range.from <= range.to) {
      const wanted = max()
      const times = await session.timesOf(ready, order, range, wanted)
      if (times.length > 0) yield times
      if (times.length < wanted) break
      range = beyond(range, times.at(-1)!, order)
    }
    session.release()
    if (end === undefined) return
    // The next part may begin before the place that the order has reached.
    const last = isRising ? Math.max(end, rest.from - 1) : Math.min(end, rest.to + 1)
    rest = beyond(rest, last, order)
    ready = ready.filter(({ part }) => overlaps(part, rest))
  }
}
