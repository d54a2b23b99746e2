import { AuditLogError } from '../../../src/errors.js'
import type { SqliteDatabase } from '../connection/database.js'

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
  // Throttles as rows that no restart forgets; a reporter's number tells which of its reports were
  // added. Open live events are in `daybook_live` until they are closed, and what was added to their
  // texts stands in rows of its own, so that no change rewrites a long text.
  `ALTER TABLE daybook_outbox ADD COLUMN throttle_key TEXT;
   ALTER TABLE daybook_outbox ADD COLUMN throttle_scope TEXT;
   ALTER TABLE daybook_outbox ADD COLUMN throttle_period INTEGER;
   CREATE TABLE daybook_throttles (
     key TEXT PRIMARY KEY,
     type TEXT NOT NULL,
     scope TEXT NOT NULL,
     period INTEGER NOT NULL,
     kept_at INTEGER,
     count INTEGER NOT NULL,
     first INTEGER,
     last INTEGER
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE daybook_reporters (
     reporter TEXT PRIMARY KEY,
     number INTEGER NOT NULL,
     reported_at INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE daybook_state (
     key TEXT PRIMARY KEY,
     value TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE daybook_live (
     created_at INTEGER PRIMARY KEY,
     tail TEXT NOT NULL,
     type TEXT NOT NULL,
     username TEXT,
     source TEXT,
     system INTEGER NOT NULL,
     attributes TEXT NOT NULL,
     revision INTEGER NOT NULL,
     beats INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE daybook_live_texts (
     created_at INTEGER NOT NULL,
     revision INTEGER NOT NULL,
     position INTEGER NOT NULL,
     key TEXT NOT NULL,
     text TEXT NOT NULL,
     PRIMARY KEY (created_at, revision, position)
   ) STRICT, WITHOUT ROWID;`,
  // State that is not for good.
  `ALTER TABLE daybook_state ADD COLUMN forgotten_at INTEGER;
   CREATE INDEX daybook_state_forgotten_at ON daybook_state (forgotten_at)
     WHERE forgotten_at IS NOT NULL;`,
  // The index of the attributes: segments, each of some events, see index-tables.ts. Of `appended`
  // (rows ever inserted) and `sealed` (rows of them in segments, or gone) only the difference counts;
  // the rows of a large file are not all counted here. What is not inserted behind all others is also
  // in `daybook_late`, until it is in a segment.
  `ALTER TABLE daybook_high_water ADD COLUMN appended INTEGER NOT NULL DEFAULT 0;
   UPDATE daybook_high_water SET appended =
     (SELECT iif(count(*) < 10000, count(*), 1000000000000)
      FROM (SELECT 1 FROM daybook_events LIMIT 10000));
   CREATE TABLE daybook_late (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     created_at INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX daybook_late_created_at ON daybook_late (created_at);
   CREATE TABLE daybook_index (
     only INTEGER PRIMARY KEY CHECK (only = 1),
     version INTEGER NOT NULL,
     sealed_to INTEGER NOT NULL,
     sealed_late INTEGER NOT NULL,
     sealed INTEGER NOT NULL,
     removed INTEGER NOT NULL
   ) STRICT;
   INSERT INTO daybook_index VALUES (1, 0, -1, 0, 0, 0);
   CREATE TABLE daybook_names (
     id INTEGER PRIMARY KEY,
     name TEXT NOT NULL UNIQUE
   ) STRICT;
   CREATE TABLE daybook_segments (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     state INTEGER NOT NULL,
     level INTEGER NOT NULL,
     size INTEGER NOT NULL,
     first INTEGER NOT NULL,
     last INTEGER NOT NULL,
     removed INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE daybook_chunks (
     id INTEGER PRIMARY KEY,
     vals TEXT NOT NULL,
     posts BLOB NOT NULL
   ) STRICT;
   CREATE TABLE daybook_chunk_keys (
     segment INTEGER NOT NULL,
     name INTEGER NOT NULL,
     kind INTEGER NOT NULL,
     first ANY NOT NULL,
     ordinal INTEGER NOT NULL,
     chunk INTEGER NOT NULL,
     PRIMARY KEY (segment, name, kind, first, ordinal)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE daybook_segment_times (
     id INTEGER PRIMARY KEY,
     first INTEGER NOT NULL,
     times BLOB NOT NULL
   ) STRICT;`,
]

/** The tables that one kind of file has, and the table that tells its version. */
export interface Schema {
  readonly versionTable: string
  readonly migrations: readonly string[]
}

export const EVENTS_SCHEMA: Schema = { versionTable: 'daybook_schema', migrations: MIGRATIONS }

function schemaVersion(database: SqliteDatabase, table: string): number {
  database.exec(`CREATE TABLE IF NOT EXISTS ${table} (version INTEGER NOT NULL) STRICT`)
  const row = database.prepare(`SELECT version FROM ${table}`).get() as
    | { version: number }
    | undefined
  if (row) return row.version
  database.exec(`INSERT INTO ${table} VALUES (0)`)
  return 0
}

/**
 * Brings the file's schema up to date, forward only, in one transaction: of several processes that
 * start at once one migrates and the others find it done. A file written by a newer version is
 * refused with `STORE_FAILED`.
 */
export function migrate(database: SqliteDatabase, { versionTable, migrations }: Schema): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    const version = schemaVersion(database, versionTable)
    if (version > migrations.length) {
      throw new AuditLogError(
        'STORE_FAILED',
        `${database.name} has schema version ${version}; this version of daybook knows ${migrations.length}`,
      )
    }
    for (const migration of migrations.slice(version)) database.exec(migration)
    database.prepare(`UPDATE ${versionTable} SET version = ?`).run(migrations.length)
    database.exec('COMMIT')
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK')
    throw error
  }
}
