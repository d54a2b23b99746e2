import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { OwnServer } from './postgres.js'
import type { ProxyTarget } from './proxy.js'

export const hostOf = ({ url }: OwnServer): string => new URL(url).host
export const portOf = ({ url }: OwnServer): number => Number(new URL(url).port)
export const targetOf = (server: OwnServer): ProxyTarget => ({
  host: '127.0.0.1',
  port: portOf(server),
})

/** The rows of a query over a separate connection. */
export async function ask(server: OwnServer, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  try {
    return (await client.query(text)).rows as Record<string, unknown>[]
  } finally {
    await client.end()
  }
}

const UNDEFINED_TABLE = '42P01'

/** Waits until the query has a row. A standby may not have the table yet. */
export async function untilRow(server: OwnServer, text: string): Promise<void> {
  const hasRow = async (): Promise<boolean> => {
    try {
      return (await ask(server, text)).length > 0
    } catch (error) {
      if ((error as { code?: unknown }).code === UNDEFINED_TABLE) return false
      throw error
    }
  }
  while (!(await hasRow())) await delay(10)
}

/** Waits until the standby has everything that was committed on the primary. */
export async function untilCaughtUp(standby: OwnServer, primary: OwnServer): Promise<void> {
  const [row] = await ask(primary, 'SELECT pg_current_wal_lsn()::text AS lsn')
  await untilRow(standby, `SELECT WHERE pg_last_wal_replay_lsn() >= '${String(row!['lsn'])}'`)
}
