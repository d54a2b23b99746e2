import { setImmediate as nextTurn } from 'node:timers/promises'
import { HEARTBEAT_MS, createLivenessCheck } from '../../../src/store/liveness.js'
import { isBusy } from '../connection/database.js'
import type { Appender } from './append.js'
import type { Outbox } from './outbox.js'
import type { Tables } from '../schema/tables.js'

/** Moves drafts from the outbox, closes abandoned live events and wakes the sealer, once a second. */
export interface Maintenance {
  /** Moves some drafts from the outbox; returns false if there are none. Throws the driver's errors. */
  moveDrafts(): boolean
  stop(): void
}

// Drafts in the outbox wait at most this long if there is no append.
const POLL_MS = 1000
// The pause if the file was locked.
const LOCKED_POLL_MS = 50

export function createMaintenance(
  { connection, live }: Tables,
  outbox: Outbox,
  appender: Appender,
  onVisible: () => void,
  checkIndex: () => void,
): Maintenance {
  const findAbandoned = createLivenessCheck()
  let lastLivenessCheck = -Infinity
  let timer: NodeJS.Timeout

  const moveDrafts = (): boolean => {
    if (!outbox.hasDrafts()) return false
    connection.tryWrite(() => appender.append([]))
    return true
  }

  const closeAbandoned = (): void => {
    const abandoned = findAbandoned(live.heartbeats())
    if (abandoned.length === 0) return
    connection.tryWrite(() => {
      // A heartbeat may have come since the check.
      const current = new Map(live.heartbeats().map((one) => [one.id, one.heartbeats]))
      for (const { id, heartbeats } of abandoned)
        if (current.get(id) === heartbeats) live.close(id, { unfinished: true })
    })
    onVisible()
  }

  const poll = async (): Promise<void> => {
    let pause = POLL_MS
    try {
      while (moveDrafts()) {
        onVisible()
        await nextTurn()
      }
      if (performance.now() - lastLivenessCheck >= HEARTBEAT_MS) {
        lastLivenessCheck = performance.now()
        closeAbandoned()
      }
    } catch (error) {
      // Calls that use the file report its errors.
      if (isBusy(error)) pause = LOCKED_POLL_MS
    }
    if (!connection.database.open) return
    checkIndex()
    schedule(pause)
  }

  const schedule = (ms: number): void => {
    timer = setTimeout(() => void poll(), ms).unref()
  }
  schedule(POLL_MS)

  return { moveDrafts, stop: () => clearTimeout(timer) }
}
