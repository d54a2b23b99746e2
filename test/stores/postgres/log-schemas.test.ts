import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { postgresDatabase, type TestDatabase } from '../../support/database.js'
import { EXACTLY } from '../../support/exact-counts.js'
import { type LogSchemas, openLogSchemas } from '../../support/log-schemas.js'

let database: TestDatabase
let schemas: LogSchemas
beforeAll(async () => {
  database = await postgresDatabase()
  schemas = await openLogSchemas(database.url, 'log_')
})
afterAll(async () => {
  await schemas.close()
  await database.remove()
})

/** Records an event in a schema, and closes its store. */
async function use(): Promise<string> {
  const { schema, store } = await schemas.open((schema) => {
    const url = new URL(database.url)
    url.searchParams.set('application_name', schema)
    return postgresStore({ connectionString: url.href, schema })
  })
  const audit = new AuditLog({ types: {}, store })
  await audit.recordCustom('used', {})
  expect(await audit.count(undefined, EXACTLY)).toMatchObject({ total: 1 })
  await audit.close()
  return schema
}

const exists = async (schema: string): Promise<boolean> =>
  (await database.pool.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema])).rowCount! > 0

it('a returned schema is emptied and reused', async () => {
  const schema = await use()
  // The server ends a session a moment after the client has closed its connection.
  await expect
    .poll(async () => {
      const sessions = 'SELECT FROM pg_stat_activity WHERE application_name = $1'
      return (await database.pool.query(sessions, [schema])).rowCount
    })
    .toBe(0)
  await schemas.giveBack(schema)
  // The schema has only the event of its second use.
  expect(await use()).toBe(schema)
  await schemas.giveBack(schema)
})

it.each([
  'ALTER TABLE {}.throttles ADD extra int',
  `UPDATE {}.schema_version SET version = version + 1`,
  'CREATE VIEW {}.extra AS SELECT 1',
])('a schema that differs from a new one after it is emptied is dropped: %s', async (change) => {
  const schema = await use()
  await database.pool.query(change.replace('{}', `"${schema}"`))
  await schemas.giveBack(schema)
  expect(await exists(schema)).toBe(false)
  expect(await use()).not.toBe(schema)
})

it('a schema to which a session is connected is dropped', async () => {
  const schema = await use()
  const client = await database.pool.connect()
  await client.query(`SET application_name = '${schema}'`)
  await schemas.giveBack(schema)
  client.release(true)
  expect(await exists(schema)).toBe(false)
})
