import { setTimeout as delay } from 'node:timers/promises'
import { postgresStore } from 'daybook/postgres'
import pg from 'pg'
import { expect, it } from 'vitest'
import type { PostgresPoolClient } from '../../../adapters/postgres/connection/client.js'
import { migrate } from '../../../adapters/postgres/schema/migrate.js'
import { namesIn, type Partitions } from '../../../adapters/postgres/schema/names.js'
import { draft, numbersOf } from '../../../src/testing/conformance/helpers.js'
import { dropSchema } from '../../support/database.js'
import { useSchemas } from '../../support/schemas.js'
import { describeMigration, VERSION_1, VERSION_2 } from '../shared/migration.js'

const { database, schema, openStore } = useSchemas('migration')

const pathOf = (): string => `search_path=${schema()}`

/** Finds the tables of the schema without its name. */
async function connect(): Promise<pg.Client> {
  const options = `-c ${pathOf()}`
  const client = new pg.Client({ connectionString: database().url, options })
  await client.connect()
  return client
}

async function rowsOf(sql: string): Promise<readonly unknown[]> {
  const client = await connect()
  try {
    return (await client.query(sql)).rows as unknown[]
  } finally {
    await client.end()
  }
}

async function migrateTo(
  migrations: readonly string[],
  partitions: Partitions = 'none',
): Promise<void> {
  const client = await connect()
  // In its transaction, a migration can call only built-in functions.
  const texts = migrations.map((text) => () => `SET LOCAL ${pathOf()}; ${text}`)
  try {
    await migrate(client as unknown as PostgresPoolClient, namesIn(schema()), partitions, texts)
  } finally {
    await client.end()
  }
}

const versions = (): Promise<readonly unknown[]> => rowsOf('SELECT * FROM schema_version')

describeMigration({
  migrate: migrateTo,
  run: rowsOf,
  rows: rowsOf,
  version: async () => ((await versions()) as { version: number }[])[0]!.version,
  versionTable: 'schema_version',
})

it('a schema keeps the partitions of its first version', async () => {
  await migrateTo(VERSION_1, 'month')
  await migrateTo(VERSION_2, 'day')
  expect(await versions()).toEqual([{ version: 2, partitions: 'month', form: 1 }])
})

it('when two processes migrate at once, one waits and has nothing left to do', async () => {
  await migrateTo(VERSION_1)
  const blocker = await database().pool.connect()
  const { locks } = namesIn(schema())
  await blocker.query(`SELECT pg_advisory_lock(${locks.schema})`)
  const migrating = [migrateTo(VERSION_2), migrateTo(VERSION_2)]
  const waiting = (): Promise<readonly unknown[]> =>
    rowsOf(`SELECT FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database
      WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()`)
  while ((await waiting()).length < migrating.length) await delay(5)
  await blocker.query(`SELECT pg_advisory_unlock(${locks.schema})`)
  blocker.release()
  await Promise.all(migrating)
  expect(await versions()).toEqual([{ version: 2, partitions: 'none', form: 1 }])
})

it('the store creates version 1', async () => {
  const store = openStore()
  await store.append([draft({ n: 0 })])
  expect(await versions()).toEqual([{ version: 1, partitions: 'month', form: 1 }])
  await store.close()
})

it('a process continues after the schema was dropped and created again', async () => {
  const before = openStore()
  await before.append([draft({ n: 0 })])
  await dropSchema(database().pool, schema())
  const other = postgresStore({ connectionString: database().url, schema: schema() })
  await other.append([draft({ n: 1 })])
  await before.append([draft({ n: 2 })])
  const { events } = await before.list({ where: undefined, sorts: [], limit: 100 })
  expect(numbersOf(events)).toEqual([1, 2])
  await Promise.all([before.close(), other.close()])
})
