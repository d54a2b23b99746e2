import { afterEach, beforeEach, vi } from 'vitest'

/** The time that `performance.now` tells, by which deadlines are measured. Timers stay real. */
export interface LeapingTime {
  /** Lets so many milliseconds pass at once. */
  leap(ms: number): void
  /** Lets no more time pass. */
  stop(): void
}

/** Each test of the file begins and ends at the real time. Call it before other hooks are set. */
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
