/** Merges frequent notifications into fewer calls of a listener. */
export interface CoalescedNotifier {
  /** Calls the listener soon: in the next turn after a quiet period, else when the gap has passed. */
  notify(): void
  stop(): void
}

/** Calls `listener` at most once every `gapMs` milliseconds, and never within `notify`. */
export function createCoalescedNotifier(
  listener: () => void,
  gapMs: () => number,
): CoalescedNotifier {
  let nextAt = -Infinity
  let waiting: { cancel(): void } | undefined
  const call = (): void => {
    waiting = undefined
    nextAt = performance.now() + gapMs()
    listener()
  }
  return {
    notify() {
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
