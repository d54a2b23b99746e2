import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'

/** How building the index keeps out of the way of who writes, in this process or in another. */
export interface Manners {
  /** This process writes. */
  readonly noteWrite: () => void
  /** Looks now and then whether others write. */
  watch(client: PostgresPoolClient, names: Names): Promise<void>
  /** Rests after work: so long where somebody writes, else for a turn. */
  rest(ms: number): Promise<void>
}

const MIN_REST_MS = 1
const MAX_REST_MS = 100

/** So long after others wrote they are taken to go on. */
const LATELY_MS = 300
const WATCH_MS = 100

export function createManners(): Manners {
  let wroteAt = -Infinity
  let watchedAt = -Infinity
  let mark: string | null | undefined
  return {
    noteWrite: () => void (wroteAt = performance.now()),
    async watch(client, { highWater }) {
      if (performance.now() - watchedAt < WATCH_MS) return
      watchedAt = performance.now()
      const [row] = await ask(client, `SELECT last_value FROM ${highWater}`)
      if (mark !== undefined && row![0] !== mark) wroteAt = performance.now()
      mark = row![0]
    },
    async rest(ms) {
      if (ms === 0 || performance.now() - wroteAt > LATELY_MS) return nextTurn()
      const rest = Math.min(MAX_REST_MS, Math.max(MIN_REST_MS, ms))
      // Nobody waits for it: a process that has nothing else to do may end.
      return delay(rest, undefined, { ref: false })
    },
  }
}
