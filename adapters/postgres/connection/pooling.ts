import { AuditLogError } from '../../../src/errors.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import {
  askAlone,
  checkOut,
  giveBack,
  notePooled,
  type PostgresPool,
  type PostgresPoolClient,
} from './client.js'
import { until } from './connection.js'
import { sessionOf, TRANSACTION_TIMEOUT } from './session.js'

/**
 * The mode of a pooler, such as PgBouncer, between a pool and its server. In transaction mode a pooler gives
 * each transaction any connection to the server, so LISTEN and locks of the session are lost.
 */
export type Pooling = 'none' | 'session' | 'transaction'

/** Finds out how the connections of a pool are pooled on their way. */
export interface PoolingDetector {
  /** Asks the server at the first call for a connection, and for the first connection that is pooled, also another one. */
  detect(client: PostgresPoolClient): Promise<Pooling>
  /** The mode that was detected; `none` before the first connection. */
  found(): Pooling
}

const TRIES = 5
const OTHER_MS = 1000

/** Settings of the session that are read with it, if the server has them. */
const NOTED = ['client_encoding', 'search_path', TRANSACTION_TIMEOUT] as const

const BACKEND = `SELECT pg_backend_pid(), ${NOTED.map((name) => `current_setting('${name}', true)`).join(', ')}`

/** Returns the id of the server process, and notes settings of the session. */
const backendOf = async (client: PostgresPoolClient): Promise<number> => {
  // In a transaction of the store, settings have other values.
  const [row] = await askAlone(client, BACKEND)
  const [backend, ...values] = row!
  const { settings } = sessionOf(client)
  for (const [i, name] of NOTED.entries()) {
    const value = values[i]
    if (typeof value === 'string') settings.set(name, value)
  }
  return Number(backend)
}

/** Poolers give their clients process ids of their own. */
const hasForeignId = ({ processID }: PostgresPoolClient, backend: number): boolean =>
  typeof processID === 'number' && processID !== backend

const hasBoth = (left: ReadonlySet<number>, right: ReadonlySet<number>): boolean =>
  [...left].some((one) => right.has(one))

/** True if a server process has worked for both connections, or one connection has had two. False is no proof. */
async function sharesBackends(
  client: PostgresPoolClient,
  pool: PostgresPool,
  first: number,
): Promise<boolean> {
  using wait = timeoutSignal(OTHER_MS)
  const other = await until(checkOut(pool), wait.signal, 'no connection came free', (late) =>
    giveBack(late, true),
  )
  let isSound = false
  try {
    const own = new Set([first])
    const others = new Set<number>()
    for (let tries = 0; tries < TRIES; tries++) {
      others.add(await backendOf(other))
      own.add(await backendOf(client))
      if (own.size > 1 || others.size > 1 || hasBoth(own, others)) break
    }
    isSound = true
    return own.size > 1 || others.size > 1 || hasBoth(own, others)
  } finally {
    giveBack(other, isSound)
  }
}

export function createPoolingDetector(pool: PostgresPool): PoolingDetector {
  const checked = new WeakSet<PostgresPoolClient>()
  let pooling: Pooling = 'none'

  return {
    found: () => pooling,
    async detect(client) {
      if (checked.has(client)) return pooling
      const backend = await backendOf(client)
      checked.add(client)
      if (!hasForeignId(client, backend)) return pooling
      notePooled(client)
      if (pooling === 'transaction') return pooling
      const isShared = await sharesBackends(client, pool, backend).catch((error: unknown) => {
        // All connections of the pool are in use; the next connection is checked again.
        if (error instanceof AuditLogError && error.code === 'ABORTED') return false
        throw error
      })
      pooling = isShared ? 'transaction' : 'session'
      return pooling
    },
  }
}
