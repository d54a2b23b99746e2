/** Runs a function again and again. Its timer does not keep the process alive. */
export interface TimerLoop {
  /** Starts no further run; resolves when the current one has ended. */
  stop(): Promise<void>
}

// Spreads the checks of several processes, so that one of them is first.
const MAX_JITTER_MS = 5000

const jitter = (ms: number): number => Math.random() * Math.min(ms / 10, MAX_JITTER_MS)

/** `run` returns the milliseconds until its next run. It must not reject. */
export function startTimerLoop(run: () => Promise<number>, firstMs: number): TimerLoop {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let isStopped = false
  const wait = (ms: number): void => {
    if (isStopped) return
    timer = setTimeout(start, Math.ceil(ms + jitter(ms)))
    timer.unref()
  }
  const start = (): void => {
    running = run().then(wait)
  }
  wait(firstMs)
  return {
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}
