import { AuditLogError } from '../../../src/errors.js'
import { hasAllMigrations, requireVersion } from '../../../src/store/schema-version.js'
import { checkStoredForm, STORED_FORM } from '../../../src/store/stored-form.js'
import type { SqliteDatabase } from '../connection/database.js'

/*
 * `created_at` is the key of the B-tree of events; the id consists of it and `suffix`, so ids need no
 * index. `suffix` holds the last 16 hexadecimal digits of the id, or the whole of an imported id that
 * does not contain the time; `daybook_foreign_ids` finds those. The high-water mark of `created_at` is
 * stored apart from the events, so that removing the newest does not set time back. Table names have
 * a prefix, and the version is in a table of its own, because the file may belong to the host.
 */
const EVENT_TABLES = `
  CREATE TABLE daybook_events (
    created_at INTEGER PRIMARY KEY,
    suffix TEXT NOT NULL,
    type TEXT NOT NULL,
    username TEXT,
    source TEXT,
    system INTEGER NOT NULL,
    attributes BLOB NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE daybook_foreign_ids (
    id TEXT PRIMARY KEY,
    created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE daybook_high_water (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    created_at INTEGER NOT NULL,
    appended INTEGER NOT NULL
  ) STRICT;
  INSERT INTO daybook_high_water VALUES (1, 0, 0);`

// Drafts that hosts insert in their own transactions. Only readable JSON is accepted: a row that cannot
// be moved into the log would block every append.
const OUTBOX_TABLE = `
  CREATE TABLE daybook_outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    suffix TEXT NOT NULL,
    type TEXT NOT NULL,
    username TEXT,
    source TEXT,
    system INTEGER NOT NULL,
    attributes TEXT NOT NULL CHECK (json_valid(attributes)),
    recorded_at INTEGER NOT NULL,
    throttle_key TEXT,
    throttle_scope TEXT,
    throttle_period INTEGER
  ) STRICT;`

// `number` is the number of the reporter's last report that was added to the counts.
const THROTTLE_TABLES = `
  CREATE TABLE daybook_throttles (
    key TEXT PRIMARY KEY,
    type TEXT NOT NULL,
    scope TEXT NOT NULL,
    period INTEGER NOT NULL,
    stored_at INTEGER,
    count INTEGER NOT NULL,
    first INTEGER,
    last INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE daybook_reporters (
    reporter TEXT PRIMARY KEY,
    number INTEGER NOT NULL,
    reported_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;`

const STATE_TABLE = `
  CREATE TABLE daybook_state (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    expires_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX daybook_state_expires_at ON daybook_state (expires_at)
    WHERE expires_at IS NOT NULL;`

// Open live events stay in `daybook_live` until they are closed. Each text that was appended to an
// attribute is a row of its own, so that no change rewrites a long text.
const LIVE_TABLES = `
  CREATE TABLE daybook_live (
    created_at INTEGER PRIMARY KEY,
    suffix TEXT NOT NULL,
    type TEXT NOT NULL,
    username TEXT,
    source TEXT,
    system INTEGER NOT NULL,
    attributes TEXT NOT NULL,
    revision INTEGER NOT NULL,
    heartbeats INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE daybook_live_texts (
    created_at INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    position INTEGER NOT NULL,
    key TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (created_at, revision, position)
  ) STRICT, WITHOUT ROWID;`

// The segments of the index; see src/store-kit/maintenance/index-rows.ts. `appended` (in daybook_high_water) counts all
// rows ever inserted, and `sealed` those of them that are in segments or were removed; the difference
// is the number of unsealed events. `digest` is the CRC-32 of the times of all events of a segment, and
// `chunks` the number of its rows in daybook_chunks; for the other checksums see index/checksums.ts.
// `names` is the number of its last name. Names of attributes are read as a whole, so they need no index. A name
// without a text was lost: only segments that are built anew had its number.
// `removed` counts the events that were removed by id; events before `removed_before` may have been removed, too.
// `daybook_removed` lists those by id while a segment may have them.
// An event that was not inserted as the newest is listed in `daybook_late` until it is in a segment.
const INDEX_TABLES = `
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
    removed INTEGER NOT NULL,
    removed_before INTEGER NOT NULL,
    rebuild INTEGER NOT NULL
  ) STRICT;
  INSERT INTO daybook_index VALUES (1, 0, -1, 0, 0, 0, 0, 0);
  CREATE TABLE daybook_removed (
    created_at INTEGER PRIMARY KEY,
    removed INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE daybook_names (
    id INTEGER PRIMARY KEY,
    name TEXT,
    checksum INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE daybook_segments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    state INTEGER NOT NULL,
    level INTEGER NOT NULL,
    size INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    partial INTEGER NOT NULL,
    digest INTEGER NOT NULL,
    names INTEGER NOT NULL,
    chunks INTEGER NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE daybook_chunks (
    id INTEGER PRIMARY KEY,
    vals TEXT NOT NULL,
    posts BLOB NOT NULL,
    vals_checksum INTEGER NOT NULL,
    posts_checksum INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE daybook_chunk_keys (
    segment INTEGER NOT NULL,
    name INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    first ANY NOT NULL,
    ordinal INTEGER NOT NULL,
    chunk INTEGER NOT NULL,
    checksum INTEGER NOT NULL,
    PRIMARY KEY (segment, name, kind, first, ordinal)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE daybook_segment_times (
    id INTEGER PRIMARY KEY,
    first INTEGER NOT NULL,
    times BLOB NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT;`

const CREATE_TABLES =
  EVENT_TABLES + OUTBOX_TABLE + THROTTLE_TABLES + STATE_TABLE + LIVE_TABLES + INDEX_TABLES

// See packed-rows.ts, and packed-lines.ts for the values of chunks. Events up to `packed_to` are packed, unless they
// came later; `untested` of them since it was last tried whether another dictionary is better. `first` is the
// `packed_to` from which on a dictionary is used.
const COMPRESSION = `
  ALTER TABLE daybook_events ADD COLUMN packed BLOB;
  ALTER TABLE daybook_chunks ADD COLUMN packed BLOB;
  CREATE TABLE daybook_dictionaries (
    id INTEGER PRIMARY KEY,
    first INTEGER NOT NULL,
    data BLOB NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE daybook_dictionary_copies (
    id INTEGER PRIMARY KEY,
    data BLOB NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE daybook_packing (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    packed_to INTEGER NOT NULL,
    untested INTEGER NOT NULL
  ) STRICT;
  INSERT INTO daybook_packing VALUES (1, -1, 0);`

/** The tables of one kind of file. */
export interface Schema {
  /** The table that holds the schema's version. */
  readonly versionTable: string
  /** SQL that migrates from one version to the next; the first creates version 1. */
  readonly migrations: readonly string[]
}

export const EVENTS_SCHEMA: Schema = {
  versionTable: 'daybook_schema',
  migrations: [CREATE_TABLES, COMPRESSION],
}

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
