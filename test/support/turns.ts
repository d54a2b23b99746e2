import { vi } from 'vitest'

/**
 * Counts the turns of the event loop while the call runs. Each reading of the clock advances it by 0.1 milliseconds,
 * so that time slices end after the same work on every machine.
 */
export async function turnsDuring(call: () => Promise<unknown>): Promise<number> {
  let time = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (time += 0.1))
  let turns = 0
  let immediate = setImmediate(function count() {
    turns += 1
    immediate = setImmediate(count)
  })
  try {
    await call()
  } finally {
    clearImmediate(immediate)
    clock.mockRestore()
  }
  return turns
}
