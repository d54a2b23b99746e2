import { setImmediate as nextTurn } from 'node:timers/promises'
import { BEAT_MS, createSilenceWatch } from '../../../src/store/liveness.js'
import { isBusy } from '../connection/database.js'
import type { Keeping } from './append.js'
import type { Outbox } from './outbox.js'
import type { Tables } from '../schema/tables.js'

/** Sees to what nobody asks for: the outbox, open events that nobody holds any more, and the index. */
export interface Poll {
  /** Moves some of the outbox, where there is any; false once nothing is left. Throws the driver's errors. */
  moveSome(): boolean
  stop(): void
}

// What committed transactions of hosts have left in the outbox waits no longer for an append.
const POLL_MS = 1000
// So long where the file is locked just then.
const LOCKED_POLL_MS = 50

export function createPoll(
  { connection, live }: Tables,
  outbox: Outbox,
  keeping: Keeping,
  hint: () => void,
  lookAtIndex: () => void,
): Poll {
  const silentOnes = createSilenceWatch()
  let lastLook = -Infinity
  let timer: NodeJS.Timeout

  const moveSome = (): boolean => {
    if (!outbox.hasSome()) return false
    connection.tryWrite(() => keeping.keep([]))
    return true
  }

  /** Closes open events whose holders are gone: those that have not been heard of since the look. */
  const closeSilent = (): void => {
    const silent = silentOnes(live.beating())
    if (silent.length === 0) return
    connection.tryWrite(() => {
      const beats = new Map(live.beating().map((one) => [one.id, one.beats]))
      for (const one of silent)
        if (beats.get(one.id) === one.beats) live.close(one.id, { unfinished: true })
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
      if (performance.now() - lastLook >= BEAT_MS) {
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
