import { DISPOSE } from './disposal.js'
import { MAX_TIMER_MS } from './timers.js'

/** A signal that aborts after a time or with another signal. Disposing clears its timer. */
export interface TimeoutSignal extends Disposable {
  readonly signal: AbortSignal
  /** Aborts the signal, and clears its timer. */
  end(): void
}

/** Aborts after `ms` milliseconds, or when `signal` aborts. */
export function timeoutSignal(ms: number, signal?: AbortSignal): TimeoutSignal {
  const controller = new AbortController()
  const abort = (): void => controller.abort(signal?.reason)
  const timer = setTimeout(abort, Math.min(Math.max(0, ms), MAX_TIMER_MS))
  if (signal?.aborted) abort()
  else signal?.addEventListener('abort', abort, { once: true })
  const dispose = (): void => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
  return {
    signal: controller.signal,
    end() {
      dispose()
      controller.abort()
    },
    [DISPOSE]: dispose,
  }
}
