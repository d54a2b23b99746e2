import { AuditLogError } from '../../../src/errors.js'
import { ask, inTransaction, type PostgresPoolClient } from '../connection/client.js'
import { migration1 } from './migration-1.js'
import { migration2 } from './migration-2.js'
import { migration3 } from './migration-3.js'
import { migration4 } from './migration-4.js'
import { migration5 } from './migration-5.js'
import { migration6 } from './migration-6.js'
import type { Names, Partitions } from './names.js'

/** Each brings the schema from the version that is its index to the next. */
const MIGRATIONS: readonly ((names: Names, partitions: Partitions) => string)[] = [
  migration1,
  migration2,
  migration3,
  migration4,
  migration5,
  migration6,
]

export interface SchemaState {
  readonly partitions: Partitions
  /** The server's clock, in microseconds. */
  readonly serverTime: number
  readonly highWater: number
}

const MIN_SERVER = 14

async function checkServer(client: PostgresPoolClient): Promise<void> {
  const [row] = await ask(
    client,
    `SELECT current_setting('server_version_num')::int / 10000, current_setting('server_encoding')`,
  )
  const [version, encoding] = row!
  if (Number(version) < MIN_SERVER)
    throw new AuditLogError(
      'STORE_FAILED',
      `the Postgres store needs Postgres ${MIN_SERVER} or newer; this is ${version}`,
    )
  if (encoding !== 'UTF8')
    throw new AuditLogError(
      'STORE_FAILED',
      `the Postgres store needs a database in UTF8; this one is in ${encoding}`,
    )
}

async function versionOf(client: PostgresPoolClient, names: Names): Promise<number> {
  // Not by to_regclass, which within a transaction goes on missing what it has missed once.
  const found = await ask(
    client,
    `SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname = $1 AND relname = 'schema_version'`,
    names.schemaName,
  )
  if (found.length === 0) return 0
  const [row] = await ask(client, `SELECT version FROM ${names.version}`)
  return Number(row?.[0] ?? 0)
}

async function migrateFrom(
  client: PostgresPoolClient,
  names: Names,
  partitions: Partitions,
): Promise<void> {
  await inTransaction(client, async () => {
    // Of several processes that start at once one migrates, and the others find it done.
    await ask(client, `SELECT pg_advisory_xact_lock(${names.locks.schema})`)
    const version = await versionOf(client, names)
    if (version < MIGRATIONS.length) {
      // Not IF NOT EXISTS, for which a role needs CREATE on the database even where it exists.
      const exists = await ask(
        client,
        'SELECT FROM pg_namespace WHERE nspname = $1',
        names.schemaName,
      )
      if (exists.length === 0) await ask(client, `CREATE SCHEMA ${names.schema}`)
      if (version === 0) {
        await ask(
          client,
          `CREATE TABLE ${names.version} (version integer NOT NULL, partitions text NOT NULL)`,
        )
        await ask(client, `INSERT INTO ${names.version} VALUES (0, $1)`, partitions)
      }
      for (const migration of MIGRATIONS.slice(version))
        await client.query(migration(names, partitions))
      await ask(client, `UPDATE ${names.version} SET version = ${MIGRATIONS.length}`)
    }
  })
}

/**
 * Brings the schema up to date, forward only, in one transaction, and tells what is there. A schema
 * that a newer version made, an old server or another encoding than UTF8: `STORE_FAILED`.
 */
export async function prepareSchema(
  client: PostgresPoolClient,
  names: Names,
  partitions: Partitions,
): Promise<SchemaState> {
  let version = await versionOf(client, names)
  if (version < MIGRATIONS.length) {
    await checkServer(client)
    await migrateFrom(client, names, partitions)
    version = await versionOf(client, names)
  }
  if (version > MIGRATIONS.length)
    throw new AuditLogError(
      'STORE_FAILED',
      `the schema ${names.schema} has version ${version}; this version of daybook knows ${MIGRATIONS.length}`,
    )
  const [row] = await ask(
    client,
    `SELECT partitions, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, last_value
     FROM ${names.version}, ${names.highWater}`,
  )
  return {
    partitions: row![0] as Partitions,
    serverTime: Number(row![1]),
    highWater: Number(row![2]),
  }
}
