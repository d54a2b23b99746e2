import { createPausingLoop } from '../async/loops.js'
import { type Duration, subtract } from '../event/duration.js'
import type { EventStore, WaitOptions } from '../store/store.js'

const KEY = 'ledger-verification'
/** Interval at which a process looks if a verification is due. */
const CHECK_MS = 60_000
/** Time to the next attempt after a verification that failed, which may have read most of the log. */
const RETRY_MS = 600_000

export interface ScheduledVerification {
  readonly store: EventStore
  readonly every: Duration
  /** True while this process seals the log. */
  readonly isSealing: () => boolean
  readonly verify: (options: WaitOptions) => Promise<unknown>
  /** Called if a verification fails. It is repeated. */
  readonly onFailure: (error: unknown) => void
}

/** Takes the turn to verify, if it is due. The time of the last turn is kept in the store. */
export async function takeTurn(
  store: EventStore,
  every: Duration,
  options: WaitOptions,
): Promise<boolean> {
  let isDue = false
  await store.updateState(
    KEY,
    (last, now) => {
      // A clock that was set back must not stop verifications.
      isDue = typeof last !== 'number' || last > now || last <= subtract(now, every)
      return isDue ? now : last
    },
    options,
  )
  return isDue
}

/** Verifies whenever it is due. Returns a function that stops, and resolves when the verification under way has ended. */
export function startVerifications({
  store,
  every,
  isSealing,
  verify,
  onFailure,
}: ScheduledVerification): () => Promise<void> {
  const closing = new AbortController()
  const options = { signal: closing.signal }
  let hasFailed = false
  const loop = createPausingLoop(
    async () => {
      if (!isSealing()) return CHECK_MS
      try {
        if (hasFailed || (await takeTurn(store, every, options))) await verify(options)
        hasFailed = false
        return CHECK_MS
      } catch (error) {
        if (closing.signal.aborted) return CHECK_MS
        hasFailed = true
        onFailure(error)
        return RETRY_MS
      }
    },
    { firstMs: CHECK_MS },
  )
  return () => {
    closing.abort()
    return loop.stop()
  }
}
