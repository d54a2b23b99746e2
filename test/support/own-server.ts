import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { OwnServer } from './postgres.js'

/** The rows of a query that runs on a connection of its own. */
export async function ask(server: OwnServer, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  try {
    return (await client.query(text)).rows as Record<string, unknown>[]
  } finally {
    await client.end()
  }
}

/** Waits until the query has a row. */
export async function untilRow(server: OwnServer, text: string): Promise<void> {
  while ((await ask(server, text)).length === 0) await delay(10)
}
