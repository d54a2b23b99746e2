import { ask, type PostgresPoolClient } from '../connection/client.js'
import { appendFunction } from './append-function.js'
import { checkVersion, type Migration, migrate, readVersion } from './migrate.js'
import type { PendingMigrations } from '../../../src/store/migrations.js'
import type { Names, Partitions } from './names.js'
import { serverSql } from './server.js'
import { tables } from './tables.js'
import { claimThrottleFunction } from './throttle-function.js'

const createSchema: Migration = (names, partitions) =>
  tables(names, partitions) + claimThrottleFunction(names) + appendFunction(names)

const MIGRATIONS: readonly Migration[] = [createSchema]

export interface SchemaState {
  /** The server and tables that it was read from; see {@link serverSql}. */
  readonly server: string
  readonly partitions: Partitions
  /** The server's clock, in microseconds. */
  readonly serverTime: number
  readonly highWater: number
}

/** Creates or migrates the schema (see {@link migrate}) and returns its state. */
export async function prepareSchema(
  client: PostgresPoolClient,
  names: Names,
  partitions: Partitions,
): Promise<SchemaState> {
  await migrate(client, names, partitions, MIGRATIONS)
  return readState(client, names)
}

/** The state of the schema. Throws `SCHEMA_MISMATCH` if it has another version; writes nothing. */
export async function readSchema(client: PostgresPoolClient, names: Names): Promise<SchemaState> {
  await checkVersion(client, names, MIGRATIONS.length)
  return readState(client, names)
}

/** The migrations that {@link prepareSchema} would run. Reads only. */
export async function readMigrations(
  client: PostgresPoolClient,
  names: Names,
  partitions: Partitions,
): Promise<PendingMigrations> {
  const version = await readVersion(client, names)
  const sql = MIGRATIONS.slice(version).map((migration) => migration(names, partitions))
  return { version, latest: MIGRATIONS.length, sql }
}

async function readState(client: PostgresPoolClient, names: Names): Promise<SchemaState> {
  const [row] = await ask(
    client,
    `SELECT partitions, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint, last_value,
       ${serverSql(names)}
     FROM ${names.version}, ${names.highWater}`,
  )
  return {
    partitions: row![0] as Partitions,
    serverTime: Number(row![1]),
    highWater: Number(row![2]),
    server: row![3]!,
  }
}
