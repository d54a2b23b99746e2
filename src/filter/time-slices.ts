import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Decide, finishInTurns, thenDecided } from './steps.js'

/** A query may block the event loop for this long. */
export const TIME_SLICE_MS = 3

/** Lets the event loop turn during long work. */
export interface TimeSlices {
  isOver(): boolean
  /** Pauses, then starts the next time slice. */
  next(): Promise<void>
  /** Does the work within this time slice and further ones. */
  finish<Result>(steps: Generator<unknown, Result, undefined>): Promise<Result>
}

/** `pause` yields to the event loop. It may throw to end the work. */
export function createTimeSlices(pause: () => Promise<void> = nextTurn): TimeSlices {
  let end = performance.now() + TIME_SLICE_MS
  const isOver = (): boolean => performance.now() >= end
  const next = async (): Promise<void> => {
    await pause()
    end = performance.now() + TIME_SLICE_MS
  }
  return { isOver, next, finish: (steps) => finishInTurns(steps, isOver, next) }
}

/** Work that decides about each item; the event loop turns between the items, and within long work. */
export async function decideInTurns<Item>(
  items: Iterable<Item>,
  decide: Decide<Item>,
): Promise<void> {
  const slices = createTimeSlices()
  for (const item of items) {
    const decision = decide(item)
    if (typeof decision !== 'boolean') await slices.finish(decision)
    if (slices.isOver()) await slices.next()
  }
}

/** The items that match. The event loop turns between them, and within long tests. */
export async function filterInTurns<Item>(
  items: Iterable<Item>,
  matches: Decide<Item>,
): Promise<Item[]> {
  const matching: Item[] = []
  await decideInTurns(items, (item) =>
    thenDecided(matches(item), (isMatch) => {
      if (isMatch) matching.push(item)
      return isMatch
    }),
  )
  return matching
}
