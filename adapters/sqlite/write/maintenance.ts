import { setImmediate as nextTurn } from 'node:timers/promises'
import { createPausingLoop } from '../../../src/async/loops.js'
import { createAbandonedCheck } from '../../../src/coordination/heartbeats.js'
import { TIMES } from '../../../src/coordination/times.js'
import { storeFailure } from '../connection/connection.js'
import { isBusy } from '../connection/database.js'
import type { Tables } from '../schema/log-tables.js'
import type { DraftTable } from './append.js'
import { abandonLive } from './live.js'
import type { Outbox } from './outbox.js'

/** Moves drafts from the outbox, closes abandoned live events and wakes the sealer, once a second. */
export interface Maintenance {
  /** Stores some drafts of the outbox. Does not wait for a lock. */
  moveOutbox(): Promise<void>
  stop(): void
}

// Drafts in the outbox wait at most this long if there is no append.
const POLL_MS = 1000
// The pause if the file was locked.
const LOCKED_POLL_MS = 50

export function createMaintenance(
  tables: Tables,
  outbox: Pick<Outbox, 'hasDrafts'>,
  drafts: Pick<DraftTable, 'insert'>,
  { onVisible, checkIndex }: { readonly onVisible: () => void; readonly checkIndex: () => void },
): Maintenance {
  const { connection, live } = tables
  const findAbandoned = createAbandonedCheck()
  let lastLivenessCheck = -Infinity

  /** Runs one write transaction, without waiting for a lock. */
  const tryOnce = async (act: () => void): Promise<void> => {
    try {
      connection.tryWrite(act)
    } catch (error) {
      throw storeFailure(error)
    }
    await connection.durable({})
  }

  const moveOutbox = async (): Promise<void> => {
    if (outbox.hasDrafts()) await tryOnce(() => void drafts.insert([]))
  }

  const closeAbandoned = async (): Promise<void> => {
    const abandoned = findAbandoned(live.heartbeats())
    if (abandoned.length === 0) return
    await tryOnce(() => {
      for (const { id, heartbeats } of abandoned) abandonLive(tables, id, heartbeats)
    })
    onVisible()
  }

  const poll = async (): Promise<number> => {
    let pause = POLL_MS
    try {
      while (outbox.hasDrafts()) {
        await moveOutbox()
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
  return { moveOutbox, ...createPausingLoop(poll, { firstMs: POLL_MS }) }
}
