import { MAX_TIMER_MS } from './timers.js'

/**
 * Resolves after `ms` milliseconds, or when the signal aborts. With `keepsAlive`, the process does not exit before.
 */
export function pause(ms: number, signal: AbortSignal, keepsAlive = true): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, Math.min(ms, MAX_TIMER_MS))
    if (!keepsAlive) timer.unref()
    signal.addEventListener('abort', end)
    if (signal.aborted) end()
  })
}
