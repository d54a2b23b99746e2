import { setImmediate as nextTurn } from 'node:timers/promises'
import { HEARTBEAT_MS, createLivenessCheck } from '../../../src/store/liveness.js'
import { isBusy } from '../connection/database.js'
import type { Appender } from './append.js'
import type { Outbox } from './outbox.js'
import type { Tables } from '../schema/tables.js'

/** Sees to what nobody asks for: the outbox, open events that nobody holds any more, and the index. */
export interface Maintenance {
  /** Moves some of the outbox, where there is any; false once nothing is left. Throws the driver's errors. */
  moveSome(): boolean
  stop(): void
}

// What committed transactions of hosts have left in the outbox waits no longer for an append.
const POLL_MS = 1000
// So long where the file is locked just then.
const LOCKED_POLL_MS = 50

export function createMaintenance(
  { connection, live }: Tables,
  outbox: Outbox,
  keeping: Appender,
  hint: () => void,
  lookAtIndex: () => void,
): Maintenance {
  const silentOnes = createLivenessCheck()
  let lastLook = -Infinity
  let timer: NodeJS.Timeout

  const moveSome = (): boolean => {
    if (!outbox.hasDrafts()) return false
    connection.tryWrite(() => keeping.append([]))
    return true
  }

  /** Closes open events whose holders are gone: those that have not been heard of since the look. */
  const closeSilent = (): void => {
    const silent = silentOnes(live.heartbeats())
    if (silent.length === 0) return
    connection.tryWrite(() => {
      const beats = new Map(live.heartbeats().map((one) => [one.id, one.heartbeats]))
      for (const one of silent)
        if (beats.get(one.id) === one.heartbeats) live.close(one.id, { unfinished: true })
    })
    hint()
  }

  const look = async (): Promise<void> => {
    let pause = POLL_MS
    try {
      while (moveSome()) {
        hint()
        await nextTurn()
      }
      if (performance.now() - lastLook >= HEARTBEAT_MS) {
        lastLook = performance.now()
        closeSilent()
      }
    } catch (error) {
      // What is wrong with the file is told by the calls that need it.
      if (isBusy(error)) pause = LOCKED_POLL_MS
    }
    if (!connection.database.open) return
    lookAtIndex()
    schedule(pause)
  }

  const schedule = (ms: number): void => {
    timer = setTimeout(() => void look(), ms).unref()
  }
  schedule(POLL_MS)

  return { moveSome, stop: () => clearTimeout(timer) }
}
