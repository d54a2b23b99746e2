import { DISPOSE } from '../../../src/async/disposal.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import {
  type PostgresPool,
  type PostgresPoolClient,
  disconnect,
  unansweredMs,
} from '../connection/client.js'
import { CONNECTING, type OwnClient, loadDriver } from '../connection/pools.js'
import { until } from '../connection/connection.js'
import type { Timelines } from './timelines.js'

/** The time limit of a connection attempt, and of the questions to a server, in milliseconds. */
const PROBE_MS = 2000

/** Options of pg for a connection to a server that may not answer. */
export const IN_TIME = { connectionTimeoutMillis: PROBE_MS } as const

/** Calls `ask` with the connection; rejects if the server does not answer in time. */
export async function askInTime<Result>(
  client: PostgresPoolClient,
  ask: (client: PostgresPoolClient) => Promise<Result>,
): Promise<Result> {
  using wait = timeoutSignal(PROBE_MS)
  try {
    return await until(ask(client), wait.signal, 'it did not answer')
  } catch (error) {
    throw wait.signal.aborted ? new Error('it did not answer', { cause: error }) : error
  }
}

/** Calls `ask` with a new connection to a server, as {@link askInTime}. `options` are those of pg for a connection. */
export async function probe<Result>(
  options: object,
  ask: (client: PostgresPoolClient) => Promise<Result>,
): Promise<Result> {
  const { Client } = loadDriver()
  const client: OwnClient = new Client({ ...CONNECTING, ...options, ...IN_TIME })
  client.on('error', () => {})
  try {
    await client.connect()
    return await askInTime(client, ask)
  } finally {
    disconnect(client)
  }
}

/**
 * Finds out whether another server has taken over, and passes its timeline on, which breaks the connections to the one that
 * was replaced.
 */
export type FindPrimary = () => Promise<unknown>

/** Asks the server that new connections with these options lead to. */
export const findByName =
  (options: object, timelines: Timelines): FindPrimary =>
  () =>
    probe(options, (client) => timelines.check(client))

/** Like {@link findByName}, for new connections of a pool of pg; `undefined` for another pool. */
export function findByPool(pool: PostgresPool, timelines: Timelines): FindPrimary | undefined {
  const { options } = pool as { readonly options?: { readonly password?: unknown } }
  if (!options) return undefined
  // A pool hides the password from copies.
  return findByName({ ...options, password: options.password }, timelines)
}

/** How long a statement may be unanswered until the primary is looked for, and how often that is checked. */
const UNANSWERED_MS = 1000
const CHECK_MS = 500

/** While a statement of the connection is unanswered, calls `find` every second. Ends when it is disposed. */
export function watchAnswers(client: PostgresPoolClient, find: FindPrimary): Disposable {
  const timer = setInterval(() => {
    if (unansweredMs(client) >= UNANSWERED_MS) find().catch(() => {})
  }, CHECK_MS)
  timer.unref()
  return { [DISPOSE]: () => clearInterval(timer) }
}

/** Concurrent calls share one search, and a search begins at the earliest a second after the one before. */
export function sharedFind(find: FindPrimary): FindPrimary {
  let last: Promise<unknown> | undefined
  let begun = -Infinity
  let isOver = true
  return () => {
    const now = performance.now()
    if (last && (!isOver || now - begun < UNANSWERED_MS)) return last
    begun = now
    isOver = false
    last = find().finally(() => (isOver = true))
    return last
  }
}
