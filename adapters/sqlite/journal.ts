import { AuditLogError } from '../../src/errors.js'
import type { DraftThrottle, JsonObject } from '../../src/event/event.js'
import type { EventJournal, JournalEntry } from '../../src/store/journal.js'
import type { Microseconds } from '../../src/event/timestamp.js'
import { isBusy, openDatabase, type SqliteDatabase } from './connection/database.js'
import { migrate, type Schema } from './schema/schema.js'

export interface SqliteJournalOptions {
  /** Path of the journal's own file, which is created if missing. One process at a time can use it. */
  readonly filename: string
  /**
   * The most bytes of drafts (the JSON text of their attributes) to store, a positive number.
   * @default 268435456 (256 MiB)
   */
  readonly maxBytes?: number
}

const JOURNAL_SCHEMA: Schema = {
  versionTable: 'daybook_journal_schema',
  // Ids have no gaps: rows are only removed from the start and added at the end.
  migrations: [
    `CREATE TABLE daybook_journal (
       id INTEGER PRIMARY KEY,
       bytes INTEGER NOT NULL,
       recorded_at INTEGER NOT NULL,
       since INTEGER,
       suffix TEXT NOT NULL,
       type TEXT NOT NULL,
       username TEXT,
       source TEXT,
       system INTEGER NOT NULL,
       live INTEGER NOT NULL,
       throttle TEXT,
       attributes TEXT NOT NULL
     ) STRICT;`,
  ],
}

interface JournalRow {
  readonly recorded_at: Microseconds
  readonly since: Microseconds | null
  readonly suffix: string
  readonly type: string
  readonly username: string | null
  readonly source: string | null
  readonly system: 0 | 1
  readonly live: 0 | 1
  /** JSON text, like the attributes. */
  readonly throttle: string | null
  readonly attributes: string
}

const COLUMNS =
  'recorded_at, since, suffix, type, username, source, system, live, throttle, attributes'

const INSERT = `INSERT INTO daybook_journal (id, bytes, ${COLUMNS})
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// Free pages that stay in the file for later drafts.
const MAX_FREE_PAGES = 1024

// Characters of JSON text after which `first` ends. Few large drafts go to the store at a time, as each
// attempt has a deadline.
const MAX_READ_LENGTH = 8 * 1024 * 1024

/**
 * Stores drafts that wait for their store in a file on this machine. They are durable when `add`
 * returns. Opens the file at once. Throws `STORE_FAILED` if that fails or another process or journal
 * uses the file, `INVALID_OPTION`, and `MISSING_DEPENDENCY` without better-sqlite3.
 */
export function sqliteJournal({
  filename,
  maxBytes = 256 * 1024 * 1024,
}: SqliteJournalOptions): EventJournal {
  if (typeof filename !== 'string' || filename === '' || filename === ':memory:')
    throw new AuditLogError('INVALID_OPTION', 'the journal needs the name of a file')
  if (!(maxBytes > 0))
    throw new AuditLogError(
      'INVALID_OPTION',
      `maxBytes must be a positive number; it is ${String(maxBytes)}`,
    )
  const database = openJournal(filename)
  const insert = database.prepare(INSERT)
  const select = database.prepare(`SELECT ${COLUMNS} FROM daybook_journal WHERE id < ? ORDER BY id`)
  const sum = database.prepare('SELECT sum(bytes) AS bytes FROM daybook_journal WHERE id < ?')
  const ends = database
    .prepare('SELECT min(id) AS first, max(id) AS last, sum(bytes) AS bytes FROM daybook_journal')
    .get() as {
    readonly first: number | null
    readonly last: number | null
    readonly bytes: number
  }
  /** The drafts have the ids from `first` to before `next`. */
  let first = ends.first ?? 1
  let next = (ends.last ?? 0) + 1
  let bytes = ends.bytes ?? 0

  const attempt = <Result>(act: () => Result): Result => {
    if (!database.open) throw new AuditLogError('CLOSED', 'the journal is closed')
    try {
      return act()
    } catch (error) {
      if (database.inTransaction) database.exec('ROLLBACK')
      throw journalFailure(filename, error)
    }
  }

  /** Shrinks the file of an empty journal. */
  const shrinkFile = (): void => {
    if ((database.pragma('freelist_count', { simple: true }) as number) <= MAX_FREE_PAGES) return
    try {
      // With no rows to copy, this is faster than to release page after page.
      database.exec('VACUUM')
      database.pragma('wal_checkpoint(TRUNCATE)')
    } catch {
      // The drafts are removed; only the file stays large.
    }
  }

  return {
    get length() {
      return next - first
    },

    add(entries) {
      attempt(() => {
        const sizes = entries.map(({ draft }) => Buffer.byteLength(draft.json))
        const added = sizes.reduce((a, b) => a + b, 0)
        if (bytes + added > maxBytes)
          throw new AuditLogError(
            'QUEUE_FULL',
            `the journal ${filename} is full: it has ${bytes} of ${maxBytes} bytes`,
          )
        database.exec('BEGIN')
        for (const [i, entry] of entries.entries())
          insert.run(next + i, sizes[i], ...valuesOf(entry))
        database.exec('COMMIT')
        next += entries.length
        bytes += added
      })
    },

    first: (count) =>
      attempt(() => {
        const entries: JournalEntry[] = []
        let read = 0
        const rows = select.iterate(Math.min(next, first + count)) as IterableIterator<JournalRow>
        for (const row of rows) {
          entries.push(entryOf(row))
          read += row.attributes.length
          if (read >= MAX_READ_LENGTH) break
        }
        return entries
      }),

    try(count, since) {
      attempt(() => {
        // An earlier attempt may have stored a draft, so the earliest time counts.
        database
          .prepare(
            'UPDATE daybook_journal SET since = ? WHERE id < ? AND (since IS NULL OR since > ?)',
          )
          .run(since, first + count, since)
      })
    },

    remove(count) {
      attempt(() => {
        const end = Math.min(next, first + count)
        const gone = (sum.get(end) as { readonly bytes: number | null }).bytes ?? 0
        database.prepare('DELETE FROM daybook_journal WHERE id < ?').run(end)
        first = end
        bytes -= gone
        if (first === next) shrinkFile()
      })
    },

    close() {
      if (database.open) database.close()
    },
  }
}

function openJournal(filename: string): SqliteDatabase {
  try {
    return openDatabase(
      filename,
      (database) => {
        // Before the first read: the first process that writes locks the file until it closes it or ends.
        database.pragma('locking_mode = EXCLUSIVE')
        database.pragma('journal_mode = WAL')
        checkFile(database)
        migrate(database, JOURNAL_SCHEMA)
      },
      0,
    )
  } catch (error) {
    const cause = error instanceof AuditLogError ? error.cause : error
    if (!isBusy(cause)) throw error
    throw new AuditLogError(
      'STORE_FAILED',
      `the journal ${filename} is in use by another process`,
      { cause },
    )
  }
}

/** Refuses the file of a log or of the host, which the journal would lock for all other connections. */
function checkFile(database: SqliteDatabase): void {
  const tables = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all()
  const isOurs = (tables as { readonly name: string }[]).some(
    ({ name }) => name === JOURNAL_SCHEMA.versionTable,
  )
  if (tables.length > 0 && !isOurs)
    throw new AuditLogError('INVALID_OPTION', `${database.name} is not the file of a journal`)
}

function valuesOf({ draft, recordedAt, since }: JournalEntry): unknown[] {
  const { suffix, type, username, source, system, live, throttle, json } = draft
  const flags = [system ? 1 : 0, live ? 1 : 0]
  const throttleJson = throttle ? JSON.stringify(throttle) : null
  return [recordedAt, since ?? null, suffix, type, username, source, ...flags, throttleJson, json]
}

function entryOf(row: JournalRow): JournalEntry {
  const { recorded_at, since, system, live, throttle, attributes, ...others } = row
  return {
    draft: {
      ...others,
      system: system === 1,
      attributes: JSON.parse(attributes) as JsonObject,
      json: attributes,
      throttle: throttle === null ? undefined : (JSON.parse(throttle) as DraftThrottle),
      live: live === 1 ? true : undefined,
    },
    recordedAt: recorded_at,
    since: since ?? undefined,
  }
}

function journalFailure(filename: string, error: unknown): AuditLogError {
  if (error instanceof AuditLogError) return error
  const reason = error instanceof Error ? error.message : String(error)
  return new AuditLogError('STORE_FAILED', `the journal ${filename} failed: ${reason}`, {
    cause: error,
  })
}
