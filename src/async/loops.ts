import { timerDelay } from './timers.js'

/** Repeated work. Runs do not overlap. */
interface Loop {
  /** Starts a run now. */
  readonly now: () => void
  /** Starts no further run. Resolves when the run under way has ended. */
  readonly stop: () => Promise<void>
}

/** Runs at intervals. */
export interface IntervalLoop extends Loop {
  /** A run starts with each interval from now on. */
  readonly start: () => void
  /** Stops further runs until `start` is called. */
  readonly pause: () => void
  readonly isOn: () => boolean
}

/**
 * Runs at intervals once it is started. An interval that begins during a run starts no other run. After a run that
 * rejects, the next one starts as usual. The timer keeps no process alive.
 */
export function createIntervalLoop(run: () => Promise<unknown>, everyMs: number): IntervalLoop {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<unknown> | undefined
  let isStopped = false
  const now = (): void => {
    running ??= run()
      .catch(() => {})
      .finally(() => (running = undefined))
  }
  const pause = (): void => {
    clearInterval(timer)
    timer = undefined
  }
  return {
    now,
    start() {
      if (!isStopped) timer ??= setInterval(now, everyMs).unref()
    },
    pause,
    isOn: () => timer !== undefined,
    async stop() {
      isStopped = true
      pause()
      await running
    },
  }
}

/**
 * Runs after pauses: `run` resolves to the milliseconds until the next run, and must not reject. A call of `now` during a run starts
 * another one after it. The first run starts after `firstMs`, without it in the next turn of the event loop.
 */
export function createPausingLoop(
  run: () => Promise<number>,
  {
    firstMs,
    keepsAlive = false,
  }: { readonly firstMs?: number; readonly keepsAlive?: boolean } = {},
): Loop {
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> | undefined
  let isDue = false
  let isStopped = false
  const cancel = (): void => {
    clearImmediate(first)
    clearTimeout(timer)
  }
  const wait = (ms: number): void => {
    running = undefined
    if (isStopped) return
    timer = setTimeout(now, timerDelay(isDue ? 0 : ms))
    if (!keepsAlive) timer.unref()
  }
  const now = (): void => {
    isDue = running !== undefined
    if (isDue || isStopped) return
    cancel()
    running = run().then(wait)
  }
  const first = firstMs === undefined ? setImmediate(now) : undefined
  if (firstMs !== undefined) wait(firstMs)
  return {
    now,
    async stop() {
      isStopped = true
      cancel()
      await running
    },
  }
}
