import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { PostgresPool } from '../../../adapters/postgres/connection/client.js'
import { withConnection } from '../../../adapters/postgres/connection/connection.js'
import { postgresDatabase, type TestDatabase } from '../../support/database.js'

let database: TestDatabase
beforeAll(async () => {
  database = await postgresDatabase()
})
afterAll(() => database.remove())

/** Other test files have statements of that kind in their databases. */
const SLEEPING = `FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()`

/** Begins a long statement, and aborts it once the server runs it. Its result is awaited until `end`. */
async function abortStatement(pool: PostgresPool, end?: number): Promise<unknown> {
  const stop = new AbortController()
  const work = withConnection(
    pool,
    stop.signal,
    (client) => client.query('SELECT pg_sleep(60) AS abandoned'),
    end,
  )
  const failure = work.catch((error: unknown) => error)
  while ((await database.pool.query(`SELECT ${SLEEPING}`)).rowCount === 0);
  stop.abort()
  return failure
}

it('cancels a statement though an extension overloads pg_cancel_backend', async () => {
  await database.pool.query(
    `CREATE FUNCTION public.pg_cancel_backend(bigint) RETURNS boolean LANGUAGE sql AS 'SELECT false'`,
  )
  const pool = new pg.Pool({ connectionString: database.url })
  // Long enough for a busy machine.
  const end = performance.now() + 60_000
  expect(await abortStatement(pool, end)).toMatchObject({ code: '57014' })
  await pool.end()
})

it('reports why a statement could not be cancelled', async () => {
  const pool = new pg.Pool({ connectionString: database.url })
  let taken = 0
  const refusing: PostgresPool = {
    connect(callback) {
      if (taken++ === 0) pool.connect(callback)
      else callback(new Error('too many connections'), undefined)
    },
  }
  expect(await abortStatement(refusing)).toMatchObject({
    code: 'ABORTED',
    cause: {
      message: 'the statement could not be cancelled',
      cause: { message: 'too many connections' },
    },
  })
  await database.pool.query(`SELECT pg_cancel_backend(pid::int) ${SLEEPING}`)
  await pool.end()
})
