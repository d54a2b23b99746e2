import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Pacer } from '../../../src/store-kit/index-builder/steps.js'
import type { Connection } from '../connection/connection.js'

/** Measures the writes itself, as a transaction may have waited for a lock first. */
export interface SqlitePacer extends Pacer {
  /** Runs a write and measures it. */
  time<Result>(act: () => Result): Result
}

export type CreatePacer = (connection: Connection, signal: AbortSignal) => SqlitePacer

const MIN_REST_MS = 1
const MAX_REST_MS = 50

const restMs = (ms: number, factor: number): number =>
  Math.min(MAX_REST_MS, Math.max(MIN_REST_MS, factor * ms))

// A writer that waits for the lock tries again every few milliseconds.
const THREAD_REST_FACTOR = 1
const MAIN_REST_FACTOR = 3

/** Other connections are assumed to keep writing for this long after a write. */
const RECENT_MS = 200

function createPacer(rest: (computeMs: number, writeMs: number) => Promise<void>): SqlitePacer {
  let writeMs = 0
  return {
    time(act) {
      const start = performance.now()
      const result = act()
      writeMs = performance.now() - start
      return result
    },
    async rest({ computeMs }) {
      const lastMs = writeMs
      writeMs = 0
      await rest(computeMs, lastMs)
    },
  }
}

/** For a thread of its own: rests only after writes, and only while other connections write. */
export const pacerInThread: CreatePacer = (connection, signal) => {
  let version: unknown
  let changedAt = -Infinity
  // Changes when another connection has committed: https://www.sqlite.org/pragma.html#pragma_data_version
  const doOthersWrite = (): boolean => {
    const current = connection.database.pragma('data_version', { simple: true })
    if (current !== version) changedAt = performance.now()
    version = current
    return connection.isContended() || performance.now() - changedAt < RECENT_MS
  }
  return createPacer(async (_computeMs, writeMs) => {
    if (writeMs > 0 && doOthersWrite())
      await connection.pause({ signal }, restMs(writeMs, THREAD_REST_FACTOR))
    else await nextTurn()
  })
}

/** For the main thread, where all work holds up the rest of the process. */
export const pacerInMain: CreatePacer = (connection, signal) =>
  createPacer((computeMs, writeMs) =>
    connection.pause({ signal }, restMs(computeMs + writeMs, MAIN_REST_FACTOR)),
  )
