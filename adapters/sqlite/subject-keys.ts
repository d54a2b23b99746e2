import path from 'node:path'
import { invalidOption } from '../../src/errors.js'
import { type OptionNames, requireOptions } from '../../src/options.js'
import { createSubjectKeys } from '../../src/privacy/keys/keys.js'
import { readMaster } from '../../src/privacy/keys/master.js'
import type { MasterKey, SubjectKeys } from '../../src/privacy/subject-keys.js'
import { readFileMode } from '../../src/store/file-mode.js'
import { createConnection } from './connection/connection.js'
import { openDatabase, type SqliteDatabase } from './connection/database.js'
import { loadDriver, type SqliteDriverName } from './connection/driver.js'
import { isFilePath } from './connection/filename.js'
import { KEYS_SCHEMA, sqliteKeyTable } from './schema/subject-keys.js'
import { migrate } from './schema/migrate.js'

export interface SqliteSubjectKeysOptions {
  /** Path of the keys' own file, which is created if missing. Any number of processes on one machine can use it. */
  readonly filename: string
  /** Wraps the keys: a `KeyObject` with 32 bytes, or the functions of a key management service. */
  readonly master: MasterKey
  /** Permissions of the file if it is created; the umask has no effect. @default 0o600 */
  readonly mode?: number
  /** As for `sqliteStore`. */
  readonly driver?: SqliteDriverName
}

const OPTIONS: OptionNames<SqliteSubjectKeysOptions> = {
  filename: true,
  master: true,
  mode: true,
  driver: true,
}

/**
 * Keeps the keys of subjects in an SQLite file of their own. A key is durable before anything is encrypted with it. A key that is destroyed is
 * overwritten in the file and in its `-wal`. Opens the file at once; throws `INVALID_OPTION`, also for a file that has other tables,
 * `MISSING_DEPENDENCY`, `SCHEMA_MISMATCH` or `STORE_FAILED` if that fails.
 */
export function sqliteSubjectKeys(options: SqliteSubjectKeysOptions): SubjectKeys {
  requireOptions(options, OPTIONS, 'sqliteSubjectKeys')
  const master = readMaster(options.master, 'sqliteSubjectKeys')
  return createSubjectKeys(sqliteKeyTable(openFile(options)), master)
}

export function openFile({
  filename,
  mode,
  driver: name,
}: Omit<SqliteSubjectKeysOptions, 'master'>) {
  if (!isFilePath(filename))
    throw invalidOption('sqliteSubjectKeys: filename must be the path of a file')
  const driver = loadDriver(name)
  const prepare = (database: SqliteDatabase): void => {
    checkTables(database)
    database.pragma('secure_delete = ON')
    database.pragma('journal_mode = WAL')
    migrate(database, KEYS_SCHEMA)
  }
  const database = openDatabase(path.resolve(filename), prepare, {
    driver,
    mode: readFileMode(mode),
  })
  return createConnection(database, driver)
}

/** Refuses the file of a log or of the host: a backup of it would have the keys, and bring destroyed ones back. */
function checkTables(database: SqliteDatabase): void {
  const tables = database
    .prepare(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'`,
    )
    .all() as readonly { readonly name: string }[]
  const other = tables.find(({ name }) => !name.startsWith('daybook_key'))
  if (other)
    throw invalidOption(
      `sqliteSubjectKeys: ${database.name} has the table ${other.name}; keys of subjects need a file of their own`,
    )
}
