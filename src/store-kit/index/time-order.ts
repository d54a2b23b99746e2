import type { TimeBounds } from '../../filter/bounds.js'
import type { Microseconds } from '../../event/timestamp.js'
import type { Work } from './find-postings.js'
import type { IndexPart, Order } from './part.js'
import { NONE, type Postings, type Step } from './postings.js'

/** A set of events of a part. */
export interface PartPostings {
  readonly part: IndexPart
  readonly postings: Postings
}

/** Finds the events of a part, once the order has reached it. */
export type OpenPart = (part: IndexPart) => Postings | Work<Postings>

interface Cursor extends PartPostings {
  ordinal: number
  time: Microseconds
}

export const overlaps = ({ first, last }: IndexPart, { from, to }: TimeBounds): boolean =>
  first <= to && last >= from

/**
 * The distinct times of the found events, in order. A part is opened once the order has reached its first
 * event. Yields `undefined` where the work may pause.
 */
export function* inTimeOrder(
  parts: readonly IndexPart[],
  open: OpenPart,
  order: Order,
  bounds: TimeBounds,
): Generator<Microseconds | undefined, void, undefined> {
  const step: Step = order === 'asc' ? 1 : -1
  const begins = ({ first, last }: IndexPart): Microseconds => (step > 0 ? first : last)
  const isBefore = (a: Microseconds, b: Microseconds): boolean => (a - b) * step < 0
  const waiting = parts
    .filter((part) => overlaps(part, bounds))
    .toSorted((a, b) => (begins(b) - begins(a)) * step)
  const cursors: Cursor[] = []

  /** False if the part has no more events within the bounds. */
  const move = (cursor: Cursor, at: number): boolean => {
    const { part, postings } = cursor
    if (at < 0 || at >= part.size) return false
    cursor.ordinal = postings.seek(at, step)
    if (cursor.ordinal === NONE) return false
    cursor.time = part.timeOf(cursor.ordinal)
    return cursor.time >= bounds.from && cursor.time <= bounds.to
  }
  const startOf = (part: IndexPart): number => {
    if (step > 0) return part.first >= bounds.from ? 0 : part.countBefore(bounds.from)
    return part.last <= bounds.to ? part.size - 1 : part.countBefore(bounds.to + 1) - 1
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
        if (move(cursor, startOf(part))) cursors.push(cursor)
        next = nearest()
      }
      if (!next) yield
    }
    if (!next) return
    if (next.time !== last) {
      last = next.time
      yield last
    }
    if (!move(next, next.ordinal + step)) cursors.splice(cursors.indexOf(next), 1)
  }
}

/** The distinct times of all events of the sets, in order. */
export function timesOfSets(
  sets: readonly PartPostings[],
  order: Order,
  bounds: TimeBounds,
): Generator<Microseconds | undefined, void, undefined> {
  const some = sets.filter(({ postings }) => postings.size > 0)
  const postingsOf = new Map(some.map(({ part, postings }) => [part, postings]))
  return inTimeOrder([...postingsOf.keys()], (part) => postingsOf.get(part)!, order, bounds)
}
