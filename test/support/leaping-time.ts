import { afterEach, beforeEach, vi } from 'vitest'

/** Controls `performance.now`, which measures deadlines. Timers stay real. */
export interface LeapingTime {
  /** Moves the time forward by this many milliseconds. */
  leap(ms: number): void
  /** Stops the time. */
  stop(): void
}

/** Each test of the file begins and ends at the real time. Must be called before other hooks are set. */
export function useLeapingTime(): LeapingTime {
  let ahead = 0
  let now = (): number => 0
  beforeEach(() => {
    ahead = 0
    now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead)
  })
  afterEach(() => void vi.restoreAllMocks())
  return {
    leap: (ms) => void (ahead += ms),
    stop() {
      const last = now()
      now = () => last
    },
  }
}
