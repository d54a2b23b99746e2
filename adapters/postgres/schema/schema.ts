import { ask, type PostgresPoolClient } from '../connection/client.js'
import { appendFunction } from './append-function.js'
import { type Engine, POSTGRES } from './engine.js'
import { beginLedgerSql, hasLedger, hasLedgerSql } from './ledger.js'
import { checkVersion, type Migration, migrate, readVersion } from './migrate.js'
import type { PendingMigrations } from '../../../src/store/migrations.js'
import type { Names, Partitions } from './names.js'
import { SERVER_TIME, serverSql } from './server.js'
import { tables } from './tables.js'
import { claimThrottleFunction } from './throttle-function.js'

const createSchema =
  (engine: Engine): Migration =>
  (names, partitions) =>
    engine.begin(names) +
    tables(names, partitions, engine) +
    engine.complete(names) +
    claimThrottleFunction(names, engine) +
    appendFunction(names, engine)

const migrationsOf = (engine: Engine): readonly Migration[] => [createSchema(engine)]

const LATEST = migrationsOf(POSTGRES).length

export interface SchemaState {
  /** The server and tables that it was read from; see {@link serverSql}. */
  readonly server: string
  readonly partitions: Partitions
  /** The server's clock, in microseconds. */
  readonly serverTime: number
  readonly highWater: number
  readonly hasLedger: boolean
}

/** Creates or migrates the schema; see {@link migrate}. */
export const migrateSchema = (
  client: PostgresPoolClient,
  names: Names,
  partitions: Partitions,
  engine: Engine = POSTGRES,
): Promise<void> => migrate(client, names, partitions, migrationsOf(engine))

/** Creates or migrates the schema and returns its state. */
export async function prepareSchema(
  client: PostgresPoolClient,
  names: Names,
  partitions: Partitions,
): Promise<SchemaState> {
  await migrateSchema(client, names, partitions)
  return readState(client, names)
}

/** The state of the schema. Throws `SCHEMA_MISMATCH` if it has another version; writes nothing. */
export async function readSchema(client: PostgresPoolClient, names: Names): Promise<SchemaState> {
  await checkVersion(client, names, LATEST)
  return readState(client, names)
}

/** The migrations that {@link migrateSchema} would run. Reads only. */
export async function readMigrations(
  client: PostgresPoolClient,
  names: Names,
  partitions: Partitions,
  engine: Engine,
): Promise<PendingMigrations> {
  const version = await readVersion(client, names)
  const pending = migrationsOf(engine).slice(version)
  const sql = pending.map((migration) => migration(names, partitions))
  const ledger = (await hasLedger(client, names)) ? undefined : beginLedgerSql(names, Infinity)
  return { version, latest: LATEST, sql, ledger }
}

async function readState(client: PostgresPoolClient, names: Names): Promise<SchemaState> {
  const [row] = await ask(
    client,
    `SELECT partitions, ${SERVER_TIME}, last_value,
       ${serverSql(names)}, ${hasLedgerSql(names)}
     FROM ${names.version}, ${names.highWater}`,
  )
  return {
    partitions: row![0] as Partitions,
    serverTime: Number(row![1]),
    highWater: Number(row![2]),
    server: row![3]!,
    hasLedger: row![4] === 't',
  }
}
