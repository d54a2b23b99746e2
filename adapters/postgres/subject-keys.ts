import { type OptionNames, requireOptions } from '../../src/options.js'
import { createSubjectKeys } from '../../src/privacy/keys/keys.js'
import type { KeyTable } from '../../src/privacy/keys/key-table.js'
import { readMaster } from '../../src/privacy/keys/master.js'
import type { MasterKey, SubjectKeys } from '../../src/privacy/subject-keys.js'
import type { PostgresPool } from './connection/client.js'
import { postgresKeyTable } from './key-table.js'
import { createKeyDatabase } from './log/key-database.js'
import { openServer } from './log/options.js'
import { keyNamesIn } from './schema/subject-keys.js'

interface TableOptions {
  /** The database schema of the keys, which has no other tables; it is created if it does not exist. @default 'daybook_keys' */
  readonly schema?: string
}

interface MasterOption {
  /** Wraps the keys: a `KeyObject` with 32 bytes, or the functions of a key management service. */
  readonly master: MasterKey
}

/** Where the keys are. */
type KeyPlace = TableOptions &
  (
    | {
        /** As for `postgresStore`. Another database than that of the log, if backups are made of whole databases. */
        readonly connectionString: string
        /** As for `postgresStore`. */
        readonly hosts?: readonly string[]
      }
    | {
        /** A `Pool` of pg. It is not ended. */
        readonly pool: PostgresPool
      }
  )

export type PostgresSubjectKeysOptions = MasterOption & KeyPlace

const OPTIONS: OptionNames<PostgresSubjectKeysOptions> = {
  schema: true,
  master: true,
  connectionString: true,
  hosts: true,
  pool: true,
}

const DEFAULT_SCHEMA = 'daybook_keys'

/**
 * Keeps the keys of subjects in a schema of a Postgres database (14 or newer), for any number of processes. A key is durable before anything is
 * encrypted with it. The first call connects and creates the tables; for that the role needs CREATE on the database, or on the schema if it
 * exists. A key that is destroyed stays in dead rows until `VACUUM FULL`, in the WAL and on standbys, where `rotate` makes it unreadable.
 * Throws `MISSING_DEPENDENCY` or `INVALID_OPTION`.
 */
export function postgresSubjectKeys(options: PostgresSubjectKeysOptions): SubjectKeys {
  requireOptions(options, OPTIONS, 'postgresSubjectKeys')
  const master = readMaster(options.master, 'postgresSubjectKeys')
  return createSubjectKeys(openKeyTable(options), master)
}

export function openKeyTable(options: KeyPlace): KeyTable {
  const names = keyNamesIn(options.schema ?? DEFAULT_SCHEMA)
  const server = openServer(options)
  return postgresKeyTable(createKeyDatabase(server, names), names, server.end)
}
