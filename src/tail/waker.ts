/** The pauses of one tail between its polls. */
export interface Waker {
  /** There may be new events: ends a pause that can be woken, or the next one. */
  wake(): void
  /** A poll begins: it covers all hints so far. */
  reset(): void
  /** Resolves after `ms` milliseconds, when the signal aborts, and if `canWake` at a hint. */
  pause(ms: number, canWake: boolean): Promise<void>
}

export function createWaker(signal: AbortSignal): Waker {
  let isHinted = false
  let wakePause = (): void => {}
  return {
    wake() {
      isHinted = true
      wakePause()
    },
    reset: () => void (isHinted = false),
    pause: (ms, canWake) =>
      new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(timer)
          signal.removeEventListener('abort', end)
          wakePause = () => {}
          resolve()
        }
        // Not `unref`: code that awaits an event keeps the process alive, as with any other call.
        const timer = setTimeout(end, ms)
        signal.addEventListener('abort', end)
        if (canWake) wakePause = end
        if (signal.aborted || (canWake && isHinted)) end()
      }),
  }
}
