import { MAX_TIMER_MS } from './timers.js'

/** The end of somebody's waiting, by a signal or by the time that is over. */
export interface TimeoutSignal extends Disposable {
  readonly signal: AbortSignal
}

/** Ends with the signal, or after so many milliseconds. */
export function timeoutSignal(ms: number, signal?: AbortSignal): TimeoutSignal {
  const controller = new AbortController()
  const end = (): void => controller.abort(signal?.reason)
  const timer = setTimeout(end, Math.min(Math.max(0, ms), MAX_TIMER_MS))
  if (signal?.aborted) end()
  else signal?.addEventListener('abort', end, { once: true })
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
    },
  }
}
