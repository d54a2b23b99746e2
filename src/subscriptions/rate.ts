import { createSerial } from '../async/serial.js'
import { milliseconds } from 'date-fns/milliseconds'
import { pause } from '../async/pause.js'
import { throwIfAborted, untilAborted } from '../errors.js'
import type { Channel } from './channel.js'

/** Resolves when the next delivery to the channel may begin. Rejects with `ABORTED` if the signal aborts. */
export type WaitForRate = (signal: AbortSignal) => Promise<void>

/** Lets at most `count` deliveries begin in any period. Deliveries wait in the order of the calls. */
export function createRate(rate: Channel['rate']): WaitForRate {
  if (!rate) return async () => {}
  const { count } = rate
  const periodMs = milliseconds(rate.per)
  /** Times at which the last `count` deliveries began. */
  const begun: number[] = []
  const begin = async (signal: AbortSignal): Promise<void> => {
    const at = begun.length < count ? -Infinity : begun[0]! + periodMs
    const ms = at - performance.now()
    if (ms > 0) await pause(Math.ceil(ms), signal)
    // An aborted delivery does not count.
    throwIfAborted(signal)
    if (begun.length >= count) begun.shift()
    begun.push(Math.max(performance.now(), at))
  }
  const inOrder = createSerial()
  return (signal) =>
    untilAborted(
      inOrder(() => begin(signal)),
      signal,
    )
}
