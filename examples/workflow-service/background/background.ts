/** Work outside of requests, which ends when the service stops. */
export interface Background {
  readonly stopping: AbortSignal
  run(task: () => Promise<void>): void
  /** Repeats a task until the service stops, with a pause before each run. */
  repeat(pauseMs: number, task: () => Promise<void>): void
  /** Resolves when the last task has ended. */
  stop(): Promise<void>
}

export function createBackground(): Background {
  const controller = new AbortController()
  const running = new Set<Promise<void>>()
  const timers = new Set<NodeJS.Timeout>()

  const run = (task: () => Promise<void>): Promise<void> => {
    const guarded = task()
      .catch((error: unknown) => console.error('background work failed:', error))
      .finally(() => running.delete(guarded))
    running.add(guarded)
    return guarded
  }

  const repeat = (pauseMs: number, task: () => Promise<void>): void => {
    if (controller.signal.aborted) return
    const timer = setTimeout(() => {
      timers.delete(timer)
      void run(task).then(() => repeat(pauseMs, task))
    }, pauseMs)
    timers.add(timer)
  }

  return {
    stopping: controller.signal,
    run: (task) => {
      if (!controller.signal.aborted) void run(task)
    },
    repeat,
    stop: async () => {
      controller.abort()
      for (const timer of timers) clearTimeout(timer)
      while (running.size > 0) await Promise.all(running)
    },
  }
}
