import { setImmediate as nextTurn } from 'node:timers/promises'
import { onTestFinished, vi } from 'vitest'

/** For `waiting` of a log whose deadlines are driven. */
export const DEADLINE_MS = 60_000

/**
 * Makes deadlines that end when the test says so, however slow the machine is, until the test is over. The
 * function that it returns ends those that have begun.
 */
export function driveDeadlines(): () => void {
  const ends = new Set<() => void>()
  let ahead = 0
  const given = performance.now
  // Beside `useLeapingTime`, which replaces it as well.
  const leaping = vi.isMockFunction(given) ? given.getMockImplementation() : undefined
  const now: () => number = leaping ?? given.bind(performance)
  const set = setTimeout
  const clocks = [
    vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead),
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(((end: () => void, ms: number) => {
      if (ms > DEADLINE_MS / 2) ends.add(end)
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

/** Lets a call begin: a store without servers tries it within some turns of the event loop. */
export async function untilTried(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await nextTurn()
}
