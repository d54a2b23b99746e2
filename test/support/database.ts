import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { inject } from 'vitest'

export interface TestDatabase {
  readonly name: string
  readonly url: string
  readonly pool: pg.Pool
  /** Closes the pool and drops the database. */
  remove(): Promise<void>
}

/** A Postgres database with a unique name. It is empty, or a copy of the database with the given name. */
export async function postgresDatabase(
  template = 'template1',
  options = '',
): Promise<TestDatabase> {
  const server = inject('postgresUrl')
  const name = `daybook_${randomUUID().replaceAll('-', '')}`
  await administer(server, (client) =>
    client.query(`CREATE DATABASE ${name} TEMPLATE ${template} ${options}`),
  )
  const url = new URL(server)
  url.pathname = `/${name}`
  const pool = new pg.Pool({ connectionString: url.href })
  // A closing connection may still receive the error that its database is dropped.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return {
    name,
    url: url.href,
    pool,
    async remove() {
      await pool.end()
      await administer(server, async (client) => {
        await leftAlone(client, name)
        await client.query(`DROP DATABASE ${name} WITH (FORCE)`)
      })
    },
  }
}

const USERS = 'SELECT query FROM pg_stat_activity WHERE datname = $1'
const PATIENCE_MS = 60_000

/**
 * Waits until no client is connected. A pool ends before its connections are closed. If the database is dropped
 * first, a connection emits an unhandled error. Fails if a test has left clients connected.
 */
async function leftAlone(client: pg.Client, name: string): Promise<void> {
  const end = performance.now() + PATIENCE_MS
  for (;;) {
    const { rows } = await client.query<{ query: string }>(USERS, [name])
    if (rows.length === 0) return
    if (performance.now() > end)
      throw new Error(
        `clients are left connected, after: ${rows.map(({ query }) => query).join('; ')}`,
      )
    await delay(10)
  }
}

const DEADLOCK = '40P01'

/**
 * Drops a schema whose log may be open. It takes the locks in another order than transactions of the store, so the
 * server may end it.
 */
export async function dropSchema(
  client: Pick<pg.ClientBase | pg.Pool, 'query'>,
  schema: string,
): Promise<void> {
  for (;;)
    try {
      return void (await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`))
    } catch (error) {
      if ((error as { code?: unknown }).code !== DEADLOCK) throw error
    }
}

async function administer(
  url: string,
  act: (client: pg.Client) => Promise<unknown>,
): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await act(client)
  } finally {
    await client.end()
  }
}
