import { setImmediate as nextTurn } from 'node:timers/promises'
import { onTestFinished, vi } from 'vitest'

/** Deadline of a log whose deadlines the test ends, for the option `waiting`. */
export const DEADLINE_MS = 60_000

/**
 * Stops the deadlines of at least `leastMs` and at most `mostMs` until the end of the test, so that they do not depend
 * on the speed of the machine. Returns a function that ends all of these deadlines that have begun.
 */
export function driveDeadlines(leastMs = DEADLINE_MS / 2, mostMs = Infinity): () => void {
  const ends = new Set<() => void>()
  let ahead = 0
  const given = performance.now
  // Works together with `useLeapingTime`, which also replaces it.
  const leaping = vi.isMockFunction(given) ? given.getMockImplementation() : undefined
  const now: () => number = leaping ?? given.bind(performance)
  const set = setTimeout
  const clocks = [
    vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead),
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((end: () => void, ms: number) => {
      if (ms >= leastMs && ms <= mostMs) ends.add(end)
      return set(end, ms)
    }) as typeof setTimeout),
  ]
  onTestFinished(() => clocks.forEach((clock) => clock.mockRestore()))
  return () => {
    ahead += DEADLINE_MS
    for (const end of ends) end()
    ends.clear()
  }
}

/** Lets a call begin. A store without servers tries it within a few turns of the event loop. */
export async function untilTried(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await nextTurn()
}
