/** The longest delay of setTimeout, in milliseconds. A longer one fires at once. */
export const MAX_TIMER_MS = 2_147_483_647

/** Delay for `setTimeout`: at least `ms`, but at most the longest delay that `setTimeout` supports. */
export const timerDelay = (ms: number): number => Math.min(Math.max(0, Math.ceil(ms)), MAX_TIMER_MS)

/** One timer for many times on the scale of `performance.now()`. It does not keep the process alive. */
export interface FirstTimer {
  /** Requires a check at this time or earlier. */
  readonly watch: (time: number) => void
  /** Forgets all of the times. */
  readonly clear: () => void
}

/** Calls `run` once, at the first of the watched times. */
export const createOneTimer = (run: () => void): FirstTimer =>
  createFirstTimer(() => {
    run()
    return Infinity
  })

/**
 * Calls `check` at the first of the watched times. `check` gets the current time, and returns the next time that is
 * still needed. Most checks find nothing to do; setting the timer again for every time would cost more.
 */
export function createFirstTimer(check: (now: number) => number): FirstTimer {
  let timer: NodeJS.Timeout | undefined
  let firesAt = Infinity
  const fire = (): void => {
    firesAt = Infinity
    watch(check(performance.now()))
  }
  const watch = (time: number): void => {
    if (time >= firesAt) return
    clearTimeout(timer)
    firesAt = time
    timer = setTimeout(fire, timerDelay(time - performance.now())).unref()
  }
  return {
    watch,
    clear() {
      clearTimeout(timer)
      firesAt = Infinity
    },
  }
}
