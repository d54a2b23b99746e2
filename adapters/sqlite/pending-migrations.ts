import { openDatabase } from './connection/database.js'
import { loadDriver } from './connection/driver.js'
import { BEGIN_LEDGER, LEDGER_EXISTS } from './schema/ledger.js'
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
  let hasLedger = false
  const database = openDatabase(
    filename,
    (opened) => {
      version = readVersion(opened, versionTable) ?? 0
      hasLedger = opened.prepare(LEDGER_EXISTS).get() !== undefined
    },
    { driver: loadDriver(), readOnly: true },
  )
  database.close()
  const ledger = hasLedger ? undefined : BEGIN_LEDGER
  return { version, latest: migrations.length, sql: migrations.slice(version), ledger }
}
