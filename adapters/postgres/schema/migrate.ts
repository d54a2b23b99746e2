import { AuditLogError } from '../../../src/errors.js'
import { hasAllMigrations, requireVersion } from '../../../src/store/schema-version.js'
import { checkStoredForm, STORED_FORM } from '../../../src/store/stored-form.js'
import { ask, askAll, runInTransaction, type PostgresPoolClient } from '../connection/client.js'
import type { Names, Partitions } from './names.js'

/** SQL that changes the schema from one version to the next; the first one creates version 1. */
export type Migration = (names: Names, partitions: Partitions) => string

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

/** The version of the schema; 0 if it does not exist. Reads only. Throws `SCHEMA_MISMATCH` for a newer form of events. */
export async function readVersion(client: PostgresPoolClient, names: Names): Promise<number> {
  // Not by to_regclass: once it has missed a table in a transaction, it keeps missing it.
  const found = await ask(
    client,
    `SELECT FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace AS space ON space.oid = relnamespace
     WHERE nspname = $1 AND relname = 'schema_version'`,
    names.schemaName,
  )
  if (found.length === 0) return 0
  // A column that is missing would be an error of the server.
  const [row] = await ask(
    client,
    `SELECT version, to_jsonb(found) ->> 'form' FROM ${names.version} AS found`,
  )
  if (!row) return 0
  const [version, form] = row
  checkStoredForm(`the schema ${names.schema}`, form === null ? form : Number(form))
  return Number(version)
}

async function createVersionTable(
  client: PostgresPoolClient,
  names: Names,
  partitions: Partitions,
): Promise<void> {
  // IF NOT EXISTS would need CREATE on the database even where the schema exists.
  const exists = await ask(
    client,
    'SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1',
    names.schemaName,
  )
  if (exists.length === 0) await ask(client, `CREATE SCHEMA ${names.schema}`)
  await ask(
    client,
    `CREATE TABLE ${names.version} (version integer NOT NULL, partitions text NOT NULL, form integer NOT NULL)`,
  )
  await ask(client, `INSERT INTO ${names.version} VALUES (0, $1, $2)`, partitions, STORED_FORM)
}

function runMigrations(
  client: PostgresPoolClient,
  names: Names,
  partitions: Partitions,
  migrations: readonly Migration[],
): Promise<void> {
  return runInTransaction(client, async () => {
    // One process migrates; those that start at the same time wait, then find it done.
    await ask(client, `SELECT pg_advisory_xact_lock(${names.locks.schema})`)
    const version = await readVersion(client, names)
    if (version >= migrations.length) return
    if (version === 0) await createVersionTable(client, names, partitions)
    for (const migration of migrations.slice(version))
      await askAll(client, migration(names, partitions))
    await ask(
      client,
      `UPDATE ${names.version} SET version = ${migrations.length}, form = ${STORED_FORM}`,
    )
  })
}

const versionOf = ({ schema }: Names): string => `the schema ${schema} has version`

/** Throws `SCHEMA_MISMATCH` unless the schema has this version. */
export async function checkVersion(
  client: PostgresPoolClient,
  names: Names,
  expected: number,
): Promise<void> {
  const version = (await readVersion(client, names)) || undefined
  requireVersion(`the schema ${names.schema}`, versionOf(names), version, expected)
}

/**
 * Creates the schema or runs the migrations that it lacks, in one transaction. `partitions` is
 * stored on creation. Throws `SCHEMA_MISMATCH` if the schema has a newer version, `STORE_FAILED` if the server is older
 * than Postgres 14 or the database is not in UTF8.
 */
export async function migrate(
  client: PostgresPoolClient,
  names: Names,
  partitions: Partitions,
  migrations: readonly Migration[],
): Promise<void> {
  const hasAll = async (): Promise<boolean> =>
    hasAllMigrations(versionOf(names), await readVersion(client, names), migrations.length)
  if (await hasAll()) return
  await checkServer(client)
  await runMigrations(client, names, partitions, migrations)
  await hasAll()
}
