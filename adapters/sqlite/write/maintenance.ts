import { setImmediate as nextTurn } from 'node:timers/promises'
import { createPausingLoop } from '../../../src/async/loops.js'
import { createAbandonedCheck } from '../../../src/coordination/heartbeats.js'
import { TIMES } from '../../../src/coordination/times.js'
import { isBusy } from '../connection/database.js'
import type { Outbox } from './outbox.js'
import type { Writer } from './writer.js'
import type { Tables } from '../schema/tables.js'

/** Moves drafts from the outbox, closes abandoned live events and wakes the sealer, once a second. */
export interface Maintenance {
  stop(): void
}

// Drafts in the outbox wait at most this long if there is no append.
const POLL_MS = 1000
// The pause if the file was locked.
const LOCKED_POLL_MS = 50

export function createMaintenance(
  { connection, live }: Tables,
  outbox: Pick<Outbox, 'hasDrafts'>,
  writer: Pick<Writer, 'moveOutbox' | 'closeAbandoned'>,
  { onVisible, checkIndex }: { readonly onVisible: () => void; readonly checkIndex: () => void },
): Maintenance {
  const findAbandoned = createAbandonedCheck()
  let lastLivenessCheck = -Infinity

  const closeAbandoned = async (): Promise<void> => {
    const abandoned = findAbandoned(live.heartbeats())
    if (abandoned.length === 0) return
    await writer.closeAbandoned(abandoned)
    onVisible()
  }

  const poll = async (): Promise<number> => {
    let pause = POLL_MS
    try {
      while (outbox.hasDrafts()) {
        await writer.moveOutbox()
        onVisible()
        await nextTurn()
      }
      if (performance.now() - lastLivenessCheck >= TIMES.work.everyMs) {
        lastLivenessCheck = performance.now()
        await closeAbandoned()
      }
    } catch (error) {
      // Calls that use the file report its errors.
      if (isBusy(error) || isBusy((error as Error).cause)) pause = LOCKED_POLL_MS
    }
    if (connection.database.open) checkIndex()
    return pause
  }

  return createPausingLoop(poll, { firstMs: POLL_MS })
}
