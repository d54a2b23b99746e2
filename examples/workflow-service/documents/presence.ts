import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { clientOptions } from './pool.js'

/** Shows the other processes on the database that this one is running. */
export interface Presence {
  readonly processId: string
  /** Returns those of the processes that have ended. */
  ended(processIds: readonly string[]): Promise<ReadonlySet<string>>
  close(): Promise<void>
}

const RETRY_MS = 500
const GRACE_MS = 10_000

const KEY = `hashtextextended('workflow_service:process:' || $1, 0)`

/**
 * Each process holds an advisory lock on its id. The server releases the lock when the connection of
 * the process ends.
 */
export async function announceProcess(pool: pg.Pool, connectionString: string): Promise<Presence> {
  const processId = randomUUID()
  const closing = new AbortController()
  /**
   * Until this `performance.now()`, a missing lock proves nothing: after a server fault, other processes
   * may not have reconnected yet.
   */
  let trustedFrom = 0

  const connect = async () => {
    const client = new pg.Client(clientOptions(connectionString))
    client.on('error', () => {})
    const disconnected = new Promise((resolve) => client.once('end', resolve))
    try {
      await client.connect()
      await client.query(`SELECT pg_advisory_lock(${KEY})`, [processId])
      return { client, disconnected }
    } catch (error) {
      void client.end().catch(() => undefined)
      throw error
    }
  }

  let connection = await connect()

  const keepConnected = async (): Promise<void> => {
    for (;;) {
      await connection.disconnected
      trustedFrom = Infinity
      if (closing.signal.aborted) return
      try {
        connection = await connect()
        trustedFrom = performance.now() + GRACE_MS
        if (closing.signal.aborted) await connection.client.end()
      } catch {
        await delay(RETRY_MS, undefined, { signal: closing.signal }).catch(() => undefined)
      }
    }
  }
  const keeping = keepConnected()

  return {
    processId,
    ended: async (processIds) => {
      if (performance.now() < trustedFrom) return new Set()
      const { rows } = await pool.query<{ id: string }>(
        `SELECT id FROM unnest($1::text[]) AS id
          WHERE pg_try_advisory_xact_lock(${KEY.replace('$1', 'id')})`,
        [processIds],
      )
      return new Set(rows.map(({ id }) => id))
    },
    close: async () => {
      closing.abort()
      await connection.client.end()
      await keeping
    },
  }
}
