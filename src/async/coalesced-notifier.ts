/** Tells that there is something new. */
export interface Bell {
  /** What is new is told of soon: at once after quiet, else together with what comes before its time. */
  ring(): void
  stop(): void
}

/** Calls `tell` no more often than every `gapMs` milliseconds, and never within `ring`. */
export function createBell(tell: () => void, gapMs: () => number): Bell {
  let nextAt = -Infinity
  let waiting: { cancel(): void } | undefined
  const call = (): void => {
    waiting = undefined
    nextAt = performance.now() + gapMs()
    tell()
  }
  return {
    ring() {
      if (waiting) return
      const ms = nextAt - performance.now()
      if (ms > 0) {
        const timer = setTimeout(call, ms)
        waiting = { cancel: () => clearTimeout(timer) }
      } else {
        const turn = setImmediate(call)
        waiting = { cancel: () => clearImmediate(turn) }
      }
    },
    stop() {
      waiting?.cancel()
      waiting = undefined
    },
  }
}
