import { AuditLogError } from '../../../src/errors.js'
import { hasAllMigrations, requireVersion } from '../../../src/store/schema-version.js'
import { checkStoredForm, STORED_FORM } from '../../../src/store/stored-form.js'
import type { SqliteDatabase } from '../connection/database.js'
import type { Schema } from './tables.js'

/** The version of the file's schema; `undefined` without one. Reads only. Throws `SCHEMA_MISMATCH` for a newer form of events. */
export function readVersion(database: SqliteDatabase, table: string): number | undefined {
  const find = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`
  if (!database.prepare(find).get(table)) return undefined
  const row = database.prepare(`SELECT * FROM ${table}`).get() as
    | { readonly version: number; readonly form?: number }
    | undefined
  if (row) checkStoredForm(database.name, row.form)
  return row?.version
}

const versionOf = ({ name }: SqliteDatabase): string => `${name} has schema version`

/** Throws `SCHEMA_MISMATCH` for UTF-16, in which SQLite compares texts by other bytes than the index does. */
function checkEncoding(database: SqliteDatabase): void {
  const encoding = database.pragma('encoding', { simple: true }) as string
  if (encoding === 'UTF-8') return
  const message = `${database.name} stores texts in ${encoding}; an audit log needs UTF-8: keep it in a file of its own`
  throw new AuditLogError('SCHEMA_MISMATCH', message)
}

/** Throws `SCHEMA_MISMATCH` unless the file has the schema in this version. */
export function checkSchema(database: SqliteDatabase, { versionTable, migrations }: Schema): void {
  checkEncoding(database)
  const version = readVersion(database, versionTable)
  requireVersion(database.name, versionOf(database), version, migrations.length)
}

/**
 * Creates the schema of the file or runs the missing migrations, in one transaction. When several
 * processes start at once, one of them migrates and the others wait. A file of this version is only read,
 * so it can be opened while another connection holds the write lock. Throws `SCHEMA_MISMATCH` if the file has
 * a newer version, or texts in UTF-16.
 */
export function migrate(database: SqliteDatabase, { versionTable, migrations }: Schema): void {
  const hasAll = (version: number): boolean =>
    hasAllMigrations(versionOf(database), version, migrations.length)
  checkEncoding(database)
  if (hasAll(readVersion(database, versionTable) ?? 0)) return
  database.exec('BEGIN IMMEDIATE')
  try {
    // Another process may have migrated the file before this one got the lock.
    const version = readVersion(database, versionTable)
    if (version === undefined)
      database.exec(
        `CREATE TABLE ${versionTable} (version INTEGER NOT NULL, form INTEGER NOT NULL) STRICT;
         INSERT INTO ${versionTable} VALUES (0, ${STORED_FORM});`,
      )
    if (!hasAll(version ?? 0)) {
      for (const migration of migrations.slice(version ?? 0)) database.exec(migration)
      database
        .prepare(`UPDATE ${versionTable} SET version = ?, form = ?`)
        .run(migrations.length, STORED_FORM)
    }
    database.exec('COMMIT')
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK')
    throw error
  }
}
