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
