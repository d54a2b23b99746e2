import type pg from 'pg'
import { namesIn } from '../../adapters/postgres/schema/names.js'

/** Holds the lock that orders the appends of the log in this schema, until the result is called. */
export async function holdOrderLock(pool: pg.Pool, schema: string): Promise<() => Promise<void>> {
  const client = await pool.connect()
  await client.query(`BEGIN; LOCK TABLE ${namesIn(schema).lockTables.order} IN EXCLUSIVE MODE`)
  return async () => {
    await client.query('COMMIT')
    client.release()
  }
}

/** The server processes that wait for the order lock. */
export async function waitingForOrder(pool: pg.Pool, schema: string): Promise<readonly number[]> {
  const { rows } = await pool.query<{ pid: number }>(
    `SELECT pid FROM pg_locks WHERE NOT granted AND relation = $1::regclass`,
    [namesIn(schema).lockTables.order],
  )
  return rows.map(({ pid }) => pid)
}
