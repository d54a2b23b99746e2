import { createSerial } from '../../../src/async/serial.js'
import { throwIfAborted, untilAborted } from '../../../src/errors.js'

/** Runs one call at a time, in order. */
export interface CallQueue {
  /** Rejects with `ABORTED` if the signal aborts before the call begins; a begun call is awaited. */
  run<Result>(act: () => Promise<Result>, signal?: AbortSignal): Promise<Result>
  /** Resolves when the calls that are queued now have ended. */
  settled(): Promise<void>
}

export function createCallQueue(): CallQueue {
  const inOrder = createSerial()
  return {
    run(act, signal) {
      let hasBegun = false
      const call = inOrder(() => {
        throwIfAborted(signal)
        hasBegun = true
        return act()
      })
      return untilAborted(call, signal).catch((error: unknown) => {
        if (hasBegun) return call
        throw error
      })
    },
    settled: () => inOrder(() => Promise.resolve()),
  }
}
