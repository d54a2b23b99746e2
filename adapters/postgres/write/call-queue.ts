import { abortedError, throwIfAborted } from '../../../src/errors.js'

/** Runs one call at a time, in order. */
export interface CallQueue {
  /** Rejects with `ABORTED` if the signal aborts before the call begins; a begun call is awaited. */
  run<Result>(act: () => Promise<Result>, signal?: AbortSignal): Promise<Result>
  /** Resolves when the calls that are queued now have ended. */
  settled(): Promise<void>
}

export function createCallQueue(): CallQueue {
  let last: Promise<unknown> = Promise.resolve()

  return {
    run<Result>(act: () => Promise<Result>, signal?: AbortSignal) {
      let hasBegun = false
      const call = last.then(() => {
        throwIfAborted(signal)
        hasBegun = true
        return act()
      })
      last = call.catch(() => {})
      if (!signal) return call
      return new Promise<Result>((resolve, reject) => {
        const onAbort = (): void => {
          if (!hasBegun) reject(abortedError(signal))
        }
        signal.addEventListener('abort', onAbort, { once: true })
        call.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
      })
    },
    async settled() {
      await last
    },
  }
}
