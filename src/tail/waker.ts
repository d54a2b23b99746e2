/** The pauses of a session between its polls. */
export interface Waker {
  /** Ends the current pause, or else the next one, because there may be new events. */
  wake(): void
  /** Forgets all hints so far, because a poll begins. */
  reset(): void
  /** Resolves after `ms` milliseconds, when the signal aborts, or, with `canWake`, at a hint. */
  pause(ms: number, canWake: boolean): Promise<void>
  /** Sets whether pauses keep the process alive. @default true */
  readonly keepAlive: (isKept: boolean) => void
}

export function createWaker(signal: AbortSignal): Waker {
  let isHinted = false
  let isKeptAlive = true
  let wakePause = (): void => {}
  let timer: NodeJS.Timeout | undefined
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
        timer = setTimeout(end, ms)
        if (!isKeptAlive) timer.unref()
        signal.addEventListener('abort', end)
        if (canWake) wakePause = end
        if (signal.aborted || (canWake && isHinted)) end()
      }),
    keepAlive(isKept) {
      isKeptAlive = isKept
      if (isKept) timer?.ref()
      else timer?.unref()
    },
  }
}
