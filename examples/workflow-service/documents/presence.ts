import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { clientOptions } from './pool.js'

/** What tells the other processes on the database that this one lives. */
export interface Presence {
  readonly processId: string
  /** Those of the processes that have ended. */
  ended(processIds: readonly string[]): Promise<ReadonlySet<string>>
  close(): Promise<void>
}

const RETRY_MS = 500
const GRACE_MS = 10_000

const KEY = `hashtextextended('workflow_service:process:' || $1, 0)`

/**
 * Each process holds a lock under its id for as long as its connection lasts: the server itself
 * releases those of the dead.
 */
export async function announceProcess(pool: pg.Pool, connectionString: string): Promise<Presence> {
  const processId = randomUUID()
  const closing = new AbortController()
  /** Before that, in `performance.now()`, others may not yet be back after a fault of the server. */
  let trustedFrom = 0

  const connect = async () => {
    const client = new pg.Client(clientOptions(connectionString))
    client.on('error', () => {})
    const gone = new Promise((resolve) => client.once('end', resolve))
    try {
      await client.connect()
      await client.query(`SELECT pg_advisory_lock(${KEY})`, [processId])
      return { client, gone }
    } catch (error) {
      void client.end().catch(() => undefined)
      throw error
    }
  }

  let held = await connect()

  const stay = async (): Promise<void> => {
    for (;;) {
      await held.gone
      trustedFrom = Infinity
      if (closing.signal.aborted) return
      try {
        held = await connect()
        trustedFrom = performance.now() + GRACE_MS
        if (closing.signal.aborted) await held.client.end()
      } catch {
        await delay(RETRY_MS, undefined, { signal: closing.signal }).catch(() => undefined)
      }
    }
  }
  const staying = stay()

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
      await held.client.end()
      await staying
    },
  }
}
