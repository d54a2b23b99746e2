import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseBusy, type RetryOptions } from './documents.js'

const INTERVAL_MS = 50

/**
 * Calls `attempt` until it does not throw `DatabaseBusy`, or until the time is over. However long `onBusy`
 * takes, an attempt follows it.
 */
export async function retryWhileBusy<Result>(
  attempt: () => Result | Promise<Result>,
  { timeoutMs = 5000, onBusy }: RetryOptions = {},
): Promise<Result> {
  const deadline = performance.now() + timeoutMs
  let notified = false
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof DatabaseBusy)) throw error
      const isOver = performance.now() > deadline
      if (!notified) await onBusy?.(error)
      notified = true
      if (isOver) throw error
    }
    await delay(INTERVAL_MS)
  }
}
