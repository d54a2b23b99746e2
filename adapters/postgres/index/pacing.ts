import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import type { Pacer } from '../../../src/store-kit/index-builder/steps.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'

/** Rests while this process or another one writes events; otherwise for one turn of the event loop. */
export interface PostgresPacer extends Pacer {
  /** Notes that this process writes. */
  readonly noteWrite: () => void
  /** Checks now and then whether other processes write. */
  watch(client: PostgresPoolClient, names: Names): Promise<void>
}

const MIN_REST_MS = 1
const MAX_REST_MS = 100

/** Processes are assumed to keep writing for this long after a write. */
const RECENT_MS = 300
const WATCH_MS = 100

export function createPacer(): PostgresPacer {
  let wroteAt = -Infinity
  let watchedAt = -Infinity
  let lastMark: string | null | undefined
  return {
    noteWrite: () => void (wroteAt = performance.now()),
    async watch(client, { highWater }) {
      if (performance.now() - watchedAt < WATCH_MS) return
      watchedAt = performance.now()
      const [row] = await ask(client, `SELECT last_value FROM ${highWater}`)
      if (lastMark !== undefined && row![0] !== lastMark) wroteAt = performance.now()
      lastMark = row![0]
    },
    async rest({ computeMs, transactionMs, restFactor }) {
      // Computing before a transaction takes less than a time slice.
      const ms = restFactor * (transactionMs || computeMs)
      if (ms === 0 || performance.now() - wroteAt > RECENT_MS) return nextTurn()
      const restMs = Math.min(MAX_REST_MS, Math.max(MIN_REST_MS, ms))
      // The timer does not keep the process alive.
      return delay(restMs, undefined, { ref: false })
    },
  }
}
