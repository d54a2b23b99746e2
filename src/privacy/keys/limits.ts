import { type TimeoutSignal, timeoutSignal } from '../../async/timeout-signal.js'
import { untilAborted } from '../../errors.js'

/** How long the store may take for a call, in milliseconds. */
export const TIMEOUT_MS = 10_000

/** Runs work with a limit of time. */
export interface Limits {
  /** Rejects with `ABORTED` after `ms` milliseconds, when the signal aborts, and after `close`. */
  run<Result>(
    act: (signal: AbortSignal) => Promise<Result>,
    signal?: AbortSignal,
    ms?: number,
  ): Promise<Result>
  isClosed(): boolean
  /** Ends all work. */
  close(): void
}

export function createLimits(): Limits {
  const running = new Set<TimeoutSignal>()
  let isClosed = false
  return {
    async run(act, signal, ms = TIMEOUT_MS) {
      using timeout = timeoutSignal(ms, signal)
      running.add(timeout)
      try {
        if (isClosed) timeout.end()
        return await untilAborted(act(timeout.signal), timeout.signal)
      } finally {
        running.delete(timeout)
      }
    },
    isClosed: () => isClosed,
    close() {
      isClosed = true
      for (const timeout of running) timeout.end()
    },
  }
}
