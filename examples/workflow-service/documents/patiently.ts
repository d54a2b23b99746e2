import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseBusy, type Patience } from './documents.js'

const RETRY_MS = 50

/** Attempts again while the database is busy. */
export async function patiently<Result>(
  attempt: () => Result | Promise<Result>,
  { patienceMs = 5000, onBusy }: Patience = {},
): Promise<Result> {
  const deadline = performance.now() + patienceMs
  let notified = false
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof DatabaseBusy)) throw error
      if (!notified) await onBusy?.(error)
      notified = true
      if (performance.now() > deadline) throw error
    }
    await delay(RETRY_MS)
  }
}
