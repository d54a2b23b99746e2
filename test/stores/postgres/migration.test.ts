import { setTimeout as delay } from 'node:timers/promises'
import { postgresStore } from 'daybook/postgres'
import pg from 'pg'
import { expect, it } from 'vitest'
import type { PostgresPoolClient } from '../../../adapters/postgres/connection/client.js'
import { type Migration, migrate } from '../../../adapters/postgres/schema/migrate.js'
import { namesIn, type Partitions } from '../../../adapters/postgres/schema/names.js'
import { draft, numbersOf } from '../../../src/testing/conformance/helpers.js'
import { useSchemas } from '../../support/schemas.js'

const { database, schema, openStore } = useSchemas('migration')

/* A made-up schema: a table of notes, to which version 2 adds a column. */
const VERSION_1: readonly Migration[] = [
  ({ schema }) => `CREATE TABLE ${schema}.notes (text text NOT NULL);`,
]
const VERSION_2: readonly Migration[] = [
  ...VERSION_1,
  ({ schema }) =>
    `ALTER TABLE ${schema}.notes ADD length integer; UPDATE ${schema}.notes SET length = length(text);`,
]

/** Migrates on a connection of its own, as another process would. */
async function migrateTo(
  migrations: readonly Migration[],
  partitions: Partitions = 'none',
): Promise<void> {
  const client = new pg.Client({ connectionString: database().url })
  await client.connect()
  try {
    await migrate(
      client as unknown as PostgresPoolClient,
      namesIn(schema()),
      partitions,
      migrations,
    )
  } finally {
    await client.end()
  }
}

const rowsOf = async (sql: string): Promise<unknown[]> => (await database().pool.query(sql)).rows
const versions = (): Promise<unknown[]> => rowsOf(`SELECT * FROM ${schema()}.schema_version`)

it('a new schema gets the newest version and stores its partitions', async () => {
  await migrateTo(VERSION_2, 'day')
  expect(await versions()).toEqual([{ version: 2, partitions: 'day' }])
  expect(await rowsOf(`SELECT text, length FROM ${schema()}.notes`)).toEqual([])
})

it('a schema of version 1 keeps its rows and its partitions', async () => {
  await migrateTo(VERSION_1, 'month')
  await database().pool.query(`INSERT INTO ${schema()}.notes VALUES ('four')`)
  await migrateTo(VERSION_2, 'day')
  expect(await versions()).toEqual([{ version: 2, partitions: 'month' }])
  expect(await rowsOf(`SELECT * FROM ${schema()}.notes`)).toEqual([{ text: 'four', length: 4 }])
})

it('of two processes that migrate at once one waits and finds it done', async () => {
  await migrateTo(VERSION_1)
  const blocker = await database().pool.connect()
  const { locks } = namesIn(schema())
  await blocker.query(`SELECT pg_advisory_lock(${locks.schema})`)
  const migrating = [migrateTo(VERSION_2), migrateTo(VERSION_2)]
  const waiting = (): Promise<unknown[]> =>
    rowsOf(`SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
      WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()`)
  while ((await waiting()).length < migrating.length) await delay(5)
  await blocker.query(`SELECT pg_advisory_unlock(${locks.schema})`)
  blocker.release()
  await Promise.all(migrating)
  expect(await versions()).toEqual([{ version: 2, partitions: 'none' }])
})

it('a migration that fails changes nothing', async () => {
  await migrateTo(VERSION_1)
  const failing: Migration = () => 'SELECT 1 / 0;'
  await expect(migrateTo([...VERSION_2, failing])).rejects.toThrow('division by zero')
  expect(await versions()).toEqual([{ version: 1, partitions: 'none' }])
  expect(
    await rowsOf(`SELECT column_name FROM information_schema.columns
    WHERE table_schema = '${schema()}' AND table_name = 'notes'`),
  ).toEqual([{ column_name: 'text' }])
})

it('a schema of a newer version is refused', async () => {
  await migrateTo(VERSION_2)
  await expect(migrateTo(VERSION_1)).rejects.toMatchObject({
    code: 'SCHEMA_MISMATCH',
    message: expect.stringContaining('has version 2; this version of daybook knows 1') as string,
  })
  expect(await versions()).toEqual([{ version: 2, partitions: 'none' }])
})

it('the store creates version 1', async () => {
  const store = openStore()
  await store.append([draft({ n: 0 })])
  expect(await versions()).toEqual([{ version: 1, partitions: 'month' }])
  await store.close()
})

it('a process continues after the schema was dropped and created again', async () => {
  const before = openStore()
  await before.append([draft({ n: 0 })])
  await database().pool.query(`DROP SCHEMA ${schema()} CASCADE`)
  const other = postgresStore({ connectionString: database().url, schema: schema() })
  await other.append([draft({ n: 1 })])
  await before.append([draft({ n: 2 })])
  const { events } = await before.list({ where: undefined, sorts: [], limit: 100 })
  expect(numbersOf(events)).toEqual([1, 2])
  await Promise.all([before.close(), other.close()])
})
