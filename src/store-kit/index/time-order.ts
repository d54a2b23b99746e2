import type { TimeBounds } from '../../filter/bounds.js'
import type { Microseconds } from '../../event/timestamp.js'
import type { FetchedPart, Order } from './part.js'
import { type FetchedPostings, NONE, type Step } from './postings.js'
import { readOne, WAIT, type Wait, type Work } from './work.js'

/** A set of events of a part. */
export interface PartPostings {
  readonly part: FetchedPart
  readonly postings: FetchedPostings
}

/** Finds the events of a part, once the order has reached it. */
export type OpenPart = (part: FetchedPart) => FetchedPostings | Work<FetchedPostings>

interface Cursor extends PartPostings {
  ordinal: number
  time: Microseconds
}

export const overlaps = ({ first, last }: FetchedPart, { from, to }: TimeBounds): boolean =>
  first <= to && last >= from

/**
 * The distinct times of the found events, in order. A part is opened once the order has reached its first
 * event. Yields `undefined` and `WAIT` as `Work` does.
 */
export function* inTimeOrder(
  parts: readonly FetchedPart[],
  open: OpenPart,
  order: Order,
  bounds: TimeBounds,
): Generator<Microseconds | Wait | undefined, void, undefined> {
  const step: Step = order === 'asc' ? 1 : -1
  const begins = ({ first, last }: FetchedPart): Microseconds => (step > 0 ? first : last)
  const isBefore = (a: Microseconds, b: Microseconds): boolean => (a - b) * step < 0
  const waiting = parts
    .filter((part) => overlaps(part, bounds))
    .toSorted((a, b) => (begins(b) - begins(a)) * step)
  const cursors: Cursor[] = []

  /** False if the part has no more events within the bounds. */
  const move = (cursor: Cursor, at: number): boolean | Wait => {
    const { part, postings } = cursor
    if (at < 0 || at >= part.size) return false
    const ordinal = postings.seek(at, step)
    if (ordinal === WAIT) return WAIT
    if (ordinal === NONE) return false
    const time = part.timeOf(ordinal)
    if (time === WAIT) return WAIT
    cursor.ordinal = ordinal
    cursor.time = time
    return time >= bounds.from && time <= bounds.to
  }
  const startOf = (part: FetchedPart): number | Wait => {
    if (step > 0) return part.first >= bounds.from ? 0 : part.countBefore(bounds.from)
    const end = part.last <= bounds.to ? part.size : part.countBefore(bounds.to + 1)
    return end === WAIT ? WAIT : end - 1
  }
  const nearest = (): Cursor | undefined => {
    let found: Cursor | undefined
    for (const cursor of cursors) if (!found || isBefore(cursor.time, found.time)) found = cursor
    return found
  }

  let last: Microseconds | undefined
  for (;;) {
    let next = nearest()
    for (
      let part = waiting.at(-1);
      part && (!next || !isBefore(next.time, begins(part)));
      part = waiting.at(-1)
    ) {
      waiting.pop()
      const found = open(part)
      const postings = 'seek' in found ? found : yield* found
      if (postings.size > 0) {
        const cursor = { part, postings, ordinal: NONE, time: 0 }
        const start = yield* readOne(() => startOf(part))
        if (yield* readOne(() => move(cursor, start))) cursors.push(cursor)
        next = nearest()
      }
      if (!next) yield
    }
    if (!next) return
    if (next.time !== last) {
      last = next.time
      yield last
    }
    let moved = move(next, next.ordinal + step)
    for (; moved === WAIT; moved = move(next, next.ordinal + step)) yield WAIT
    if (!moved) cursors.splice(cursors.indexOf(next), 1)
  }
}

/** The distinct times of all events of the sets, in order. */
export function timesOfSets(
  sets: readonly PartPostings[],
  order: Order,
  bounds: TimeBounds,
): Generator<Microseconds | Wait | undefined, void, undefined> {
  const some = sets.filter(({ postings }) => postings.size > 0)
  const postingsOf = new Map(some.map(({ part, postings }) => [part, postings]))
  return inTimeOrder([...postingsOf.keys()], (part) => postingsOf.get(part)!, order, bounds)
}
