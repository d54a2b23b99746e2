import { milliseconds } from 'date-fns/milliseconds'
import { pause } from '../async/pause.js'
import { throwIfAborted } from '../errors.js'
import type { Channel } from './channel.js'

/** Resolves when the next delivery to the channel may begin. Rejects with `ABORTED` if the signal aborts. */
export type WaitForRate = (signal: AbortSignal) => Promise<void>

/** Lets at most `count` deliveries begin in any period. Deliveries wait in the order of the calls. */
export function createRate(rate: Channel['rate']): WaitForRate {
  if (!rate) return async () => {}
  const { count } = rate
  const periodMs = milliseconds(rate.per)
  /** When the last `count` deliveries began, or will begin. */
  const begun: number[] = []
  return async (signal) => {
    const free = begun.length < count ? -Infinity : begun.shift()! + periodMs
    // Taken before the wait, so that a later call waits for the next place.
    const at = Math.max(performance.now(), free)
    begun.push(at)
    const ms = at - performance.now()
    if (ms > 0) await pause(Math.ceil(ms), signal)
    throwIfAborted(signal)
  }
}
