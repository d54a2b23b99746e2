import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Connection } from '../connection/connection.js'

/** Rests after a step that read, and then wrote, for so long, so that others get their turn. */
export type Rest = (readMs: number, wroteMs: number) => Promise<void>

export type RestIn = (connection: Connection, signal: AbortSignal) => Rest

const MIN_REST_MS = 1
const MAX_REST_MS = 50

const restOf = (ms: number, times: number): number =>
  Math.min(MAX_REST_MS, Math.max(MIN_REST_MS, times * ms))

// Who waits for the lock looks for it every few milliseconds.
const THREAD_TIMES = 1
const MAIN_TIMES = 3

/** So long after others wrote they are taken to go on. */
const LATELY_MS = 200

/** In a thread of its own only writing is in the way, and only of those who write. */
export const restForWriters: RestIn = (connection, signal) => {
  let seen: unknown
  let seenAt = -Infinity
  // Changes when another connection has committed: https://www.sqlite.org/pragma.html#pragma_data_version
  const othersWrite = (): boolean => {
    const version = connection.database.pragma('data_version', { simple: true })
    if (version !== seen) seenAt = performance.now()
    seen = version
    return connection.isContended() || performance.now() - seenAt < LATELY_MS
  }
  return async (_readMs, wroteMs) => {
    if (wroteMs > 0 && othersWrite())
      await connection.gap({ signal }, restOf(wroteMs, THREAD_TIMES))
    else await nextTurn()
  }
}

/** In the main thread all of it is in the way of all the process does. */
export const restInMain: RestIn = (connection, signal) => (readMs, wroteMs) =>
  connection.gap({ signal }, restOf(readMs + wroteMs, MAIN_TIMES))
