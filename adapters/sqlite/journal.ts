import { AuditLogError, invalidOption } from '../../src/errors.js'
import type { DraftThrottle, JsonObject } from '../../src/event/event.js'
import { readFileMode } from '../../src/store/file-mode.js'
import type { EventJournal, JournalEntry } from '../../src/store/journal.js'
import type { Microseconds } from '../../src/event/timestamp.js'
import { watchFile } from './connection/file.js'
import type { SqliteDatabase } from './connection/database.js'
import { loadDriver, type SqliteDriverName } from './connection/driver.js'
import { commitSurely, journalFailure, openJournal, clearFile } from './journal-file.js'
import { type OptionNames, requireOptions } from '../../src/options.js'

export interface SqliteJournalOptions {
  /** Path of the journal's own file, which is created if missing. One process at a time can use it. */
  readonly filename: string
  /**
   * Maximum number of bytes of drafts (the JSON text of their attributes) to store; positive.
   * @default 268435456 (256 MiB)
   */
  readonly maxBytes?: number
  /** Permissions of the file if it is created; the umask has no effect. @default 0o600 */
  readonly mode?: number
  /** As for `sqliteStore`. */
  readonly driver?: SqliteDriverName
}

const JOURNAL_OPTIONS: OptionNames<SqliteJournalOptions> = {
  filename: true,
  maxBytes: true,
  mode: true,
  driver: true,
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

const SELECT = `SELECT ${COLUMNS} FROM daybook_journal WHERE id < ? ORDER BY id`

const SUM = 'SELECT sum(bytes) AS bytes FROM daybook_journal WHERE id < ?'

const EXTENT = 'SELECT min(id) AS first, max(id) AS last, sum(bytes) AS bytes FROM daybook_journal'

const SET_SINCE =
  'UPDATE daybook_journal SET since = ? WHERE id < ? AND (since IS NULL OR since > ?)'

const DELETE = 'DELETE FROM daybook_journal WHERE id < ?'

// Characters of JSON text after which `first` ends. Few large drafts go to the store at a time, as each
// attempt has a deadline.
const MAX_READ_LENGTH = 8 * 1024 * 1024

/**
 * Stores drafts that wait for their store in a file on this machine. They are durable when `add`
 * returns. Once the journal is empty, its files have no bytes of the drafts that were removed. Opens the file at once. Throws `STORE_FAILED` if that fails or another process or journal
 * uses the file, `INVALID_OPTION`, and `MISSING_DEPENDENCY` if the driver cannot be used.
 */
export function sqliteJournal(options: SqliteJournalOptions): EventJournal {
  requireOptions(options, JOURNAL_OPTIONS, 'sqliteJournal')
  const { filename, maxBytes = 256 * 1024 * 1024, mode, driver } = options
  checkValues(filename, maxBytes)
  const database = openJournal(filename, readFileMode(mode), loadDriver(driver))
  const file = watchFile(database.name)
  const insert = database.prepare(INSERT)
  const find = database.prepare('SELECT 1 FROM daybook_journal WHERE id = ?')
  const select = database.prepare(SELECT)
  const sum = database.prepare(SUM)
  /** The drafts have the ids from `first` to before `next`. */
  let { first, next, bytes } = extentOf(database)
  // A process may have ended before it could.
  if (first === next) clearFile(database)

  const attempt = <Result>(act: () => Result): Result => {
    if (!database.open) throw new AuditLogError('CLOSED', 'the journal is closed')
    try {
      return act()
    } catch (error) {
      if (database.inTransaction) database.exec('ROLLBACK')
      throw journalFailure(filename, error)
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
        file.check()
        commitSurely(database, () => find.get(next) !== undefined)
        next += entries.length
        bytes += added
      })
    },

    first: (count) =>
      attempt(() => {
        const rows = select.iterate(Math.min(next, first + count))
        return firstEntries(rows as IterableIterator<JournalRow>)
      }),

    try(count, since) {
      attempt(() => {
        // An earlier attempt may have stored a draft, so the earliest time counts.
        database.prepare(SET_SINCE).run(since, first + count, since)
      })
    },

    remove(count) {
      attempt(() => {
        const end = Math.min(next, first + count)
        const gone = (sum.get(end) as { readonly bytes: number | null }).bytes ?? 0
        database.prepare(DELETE).run(end)
        first = end
        bytes -= gone
        if (first === next) clearFile(database)
      })
    },

    close() {
      if (database.open) database.close()
    },
  }
}

function checkValues(filename: string, maxBytes: number): void {
  if (typeof filename !== 'string' || filename === '' || filename === ':memory:')
    throw invalidOption('sqliteJournal: filename must be the path of a file')
  if (!(maxBytes > 0))
    throw invalidOption(`maxBytes must be a positive number; it is ${String(maxBytes)}`)
}

interface Extent {
  /** The drafts have the ids from `first` to before `next`. */
  readonly first: number
  readonly next: number
  readonly bytes: number
}

function extentOf(database: SqliteDatabase): Extent {
  const { first, last, bytes } = database.prepare(EXTENT).get() as {
    readonly first: number | null
    readonly last: number | null
    readonly bytes: number | null
  }
  return { first: first ?? 1, next: (last ?? 0) + 1, bytes: bytes ?? 0 }
}

/** The first entries, until their texts have {@link MAX_READ_LENGTH} characters. */
function firstEntries(rows: Iterable<JournalRow>): JournalEntry[] {
  const entries: JournalEntry[] = []
  let read = 0
  for (const row of rows) {
    entries.push(entryOf(row))
    read += row.attributes.length
    if (read >= MAX_READ_LENGTH) break
  }
  return entries
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
