import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'

export interface TestDatabase {
  readonly url: string
  readonly pool: pg.Pool
  /** Closes the pool and drops the database. */
  remove(): Promise<void>
}

/** An empty Postgres database, with a name that no other test has. */
export async function postgresDatabase(): Promise<TestDatabase> {
  const server = inject('postgresUrl')
  const name = `daybook_${randomUUID().replaceAll('-', '')}`
  await administer(server, `CREATE DATABASE ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  const pool = new pg.Pool({ connectionString: url.href })
  // A connection that is being closed may still hear that its database goes.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return {
    url: url.href,
    pool,
    async remove() {
      await pool.end()
      await administer(server, `DROP DATABASE ${name} WITH (FORCE)`)
    },
  }
}

async function administer(url: string, command: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(command)
  } finally {
    await client.end()
  }
}
