import { AuditLogError } from '../../src/errors.js'
import type { SqliteDatabase } from './database.js'

/*
 * One table, one B-tree: `created_at` is the row's key, and the id is made of it and `tail`, so no
 * index of ids is kept. `tail` holds the id's last 16 hexadecimal digits, or the whole of an imported
 * id that does not carry the time; those are found through `daybook_foreign_ids`. The high-water mark of
 * `created_at` is apart from the events, so that removing the newest does not set time back.
 * Tables carry a prefix, and the version is ours alone, because the file may be the host's own.
 */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE daybook_events (
     created_at INTEGER PRIMARY KEY,
     tail TEXT NOT NULL,
     type TEXT NOT NULL,
     username TEXT,
     source TEXT,
     system INTEGER NOT NULL,
     attributes BLOB NOT NULL
   ) STRICT;
   CREATE TABLE daybook_foreign_ids (
     id TEXT PRIMARY KEY,
     created_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE daybook_high_water (
     only INTEGER PRIMARY KEY CHECK (only = 1),
     created_at INTEGER NOT NULL
   ) STRICT;
   INSERT INTO daybook_high_water VALUES (1, 0);`,
  // What hosts put in within their own transactions. Readable JSON only: what could not be moved on
  // would stand in the way of every append.
  `CREATE TABLE daybook_outbox (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     tail TEXT NOT NULL,
     type TEXT NOT NULL,
     username TEXT,
     source TEXT,
     system INTEGER NOT NULL,
     attributes TEXT NOT NULL CHECK (json_valid(attributes)),
     recorded_at INTEGER NOT NULL
   ) STRICT;`,
]

function schemaVersion(database: SqliteDatabase): number {
  database.exec('CREATE TABLE IF NOT EXISTS daybook_schema (version INTEGER NOT NULL) STRICT')
  const row = database.prepare('SELECT version FROM daybook_schema').get() as
    | { version: number }
    | undefined
  if (row) return row.version
  database.exec('INSERT INTO daybook_schema VALUES (0)')
  return 0
}

/**
 * Brings the file's schema up to date, forward only, in one transaction: of several processes that
 * start at once one migrates and the others find it done. A file written by a newer version is
 * refused with `STORE_FAILED`.
 */
export function migrate(database: SqliteDatabase): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    const version = schemaVersion(database)
    if (version > MIGRATIONS.length) {
      throw new AuditLogError(
        'STORE_FAILED',
        `${database.name} has schema version ${version}; this version of daybook knows ${MIGRATIONS.length}`,
      )
    }
    for (const migration of MIGRATIONS.slice(version)) database.exec(migration)
    database.prepare('UPDATE daybook_schema SET version = ?').run(MIGRATIONS.length)
    database.exec('COMMIT')
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK')
    throw error
  }
}
