import { invalidOption } from '../../../src/errors.js'
import type { KeyErasure } from '../../../src/privacy/subject-keys.js'
import type { KeyRing, KeyRow } from '../../../src/privacy/keys/key-table.js'
import { readErasure } from '../../../src/privacy/keys/stored-erasure.js'
import { hasAllMigrations } from '../../../src/store/schema-version.js'
import {
  ask,
  askAll,
  type PostgresPoolClient,
  runInTransaction,
  type TextRow,
} from '../connection/client.js'
import { namesIn } from './names.js'

/** The names of the tables of keys, quoted and qualified with the schema. */
export interface KeyNames {
  /** Unquoted. */
  readonly schemaName: string
  readonly schema: string
  /** SQL for the key of the advisory lock of the process that creates the tables. */
  readonly lock: string
  readonly version: string
  readonly ring: string
  readonly keys: string
  readonly erasures: string
}

/** Throws `INVALID_OPTION`. */
export function keyNamesIn(name: string): KeyNames {
  const { schema, schemaName, locks } = namesIn(name)
  return {
    schemaName,
    schema,
    lock: locks.schema,
    version: `${schema}.keys_version`,
    ring: `${schema}.key_ring`,
    keys: `${schema}.keys`,
    erasures: `${schema}.key_erasures`,
  }
}

const VERSION = 1

const tables = ({ version, ring, keys, erasures }: KeyNames): string => `
  CREATE TABLE ${version} (version integer NOT NULL);
  INSERT INTO ${version} VALUES (${VERSION});
  CREATE TABLE ${ring} (
    only_one boolean PRIMARY KEY CHECK (only_one),
    version integer NOT NULL,
    id text NOT NULL,
    ring text NOT NULL
  );
  CREATE TABLE ${keys} (
    ref text COLLATE "C" PRIMARY KEY,
    mac text COLLATE "C" UNIQUE,
    wrapper text COLLATE "C" NOT NULL,
    wrapped text NOT NULL,
    created_at text NOT NULL
  );
  CREATE INDEX ON ${keys} (wrapper);
  CREATE TABLE ${erasures} (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ref text COLLATE "C" NOT NULL UNIQUE,
    mac text COLLATE "C",
    erased_at text NOT NULL,
    request text NOT NULL,
    events bigint
  );
  CREATE INDEX ON ${erasures} (mac) WHERE mac IS NOT NULL;`

const TABLES_OF = `SELECT relname FROM pg_catalog.pg_class
  JOIN pg_catalog.pg_namespace AS space ON space.oid = relnamespace
  WHERE nspname = $1 AND relkind IN ('r', 'p')`

/** True if the schema has the tables. Throws `INVALID_OPTION` for a schema with other tables, such as those of a log. */
async function hasTables(client: PostgresPoolClient, names: KeyNames): Promise<boolean> {
  const found = (await ask(client, TABLES_OF, names.schemaName)).map(([name]) => name!)
  if (!found.includes('keys_version')) {
    if (found.length === 0) return false
    throw invalidOption(
      `postgresSubjectKeys: the schema ${names.schema} has the table ${found[0]}; keys of subjects need a schema of their own`,
    )
  }
  const [row] = await ask(client, `SELECT version FROM ${names.version}`)
  return hasAllMigrations(`the schema ${names.schema} has version`, Number(row?.[0] ?? 0), VERSION)
}

/** Creates the tables unless they exist. Of several processes, one creates them, and the others wait. */
export async function prepareKeys(client: PostgresPoolClient, names: KeyNames): Promise<void> {
  const isReady = await runInTransaction(client, () => hasTables(client, names))
  if (isReady) return
  await runInTransaction(client, async () => {
    await ask(client, `SELECT pg_advisory_xact_lock(${names.lock})`)
    if (await hasTables(client, names)) return
    // IF NOT EXISTS would need CREATE on the database even where the schema exists.
    const found = 'SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1'
    const exists = await ask(client, found, names.schemaName)
    if (exists.length === 0) await ask(client, `CREATE SCHEMA ${names.schema}`)
    await askAll(client, tables(names))
  })
}

export const KEY_COLUMNS = 'ref, mac, wrapper, wrapped, created_at'
export const ERASURE_COLUMNS = 'ref, erased_at, request, events'

export const readKeyRow = ([ref, mac, wrapper, wrapped, created_at]: TextRow): KeyRow => ({
  ref: ref!,
  mac: mac!,
  wrapper: wrapper!,
  wrapped: wrapped!,
  created_at: created_at!,
})

export const readErasureRow = ([ref, erased_at, request, events]: TextRow): KeyErasure =>
  readErasure({
    ref: ref!,
    erased_at: erased_at!,
    request: request!,
    events: events === null || events === undefined ? null : Number(events),
  })

export const readRing = ([, , ring]: TextRow): KeyRing => JSON.parse(ring!) as KeyRing
