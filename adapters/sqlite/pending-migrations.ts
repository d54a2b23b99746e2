import { openDatabase } from './connection/database.js'
import { loadDriver } from './connection/driver.js'
import { readVersion } from './schema/migrate.js'
import { EVENTS_SCHEMA } from './schema/tables.js'
import type { PendingMigrations } from '../../src/store/migrations.js'

/**
 * The migrations that opening the file for writing would run. Reads only. Throws `STORE_FAILED` if there is no such file, or it
 * is no database.
 */
export function sqliteMigrations(filename: string): PendingMigrations {
  const { versionTable, migrations } = EVENTS_SCHEMA
  let version = 0
  const database = openDatabase(
    filename,
    (opened) => {
      version = readVersion(opened, versionTable) ?? 0
    },
    { driver: loadDriver(), readOnly: true },
  )
  database.close()
  return { version, latest: migrations.length, sql: migrations.slice(version) }
}
