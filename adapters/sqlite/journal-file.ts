import path from 'node:path'
import { AuditLogError, invalidOption, outcomeUnknown } from '../../src/errors.js'
import { attemptSettling, isDiskFailure, settleDisk } from './connection/disk-failure.js'
import { isBusy, openDatabase, type SqliteDatabase } from './connection/database.js'
import type { Driver } from './connection/driver.js'
import { migrate } from './schema/migrate.js'
import type { Schema } from './schema/tables.js'

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

// Free pages that stay in the file for later drafts.
const MAX_FREE_PAGES = 1024

/** Opens the journal's file, or creates it, and locks it for this process. */
export function openJournal(filename: string, mode: number, driver: Driver): SqliteDatabase {
  try {
    return openDatabase(
      path.resolve(filename),
      (database) => {
        // Before the first read: the first process that writes locks the file until it closes it or ends.
        database.pragma('locking_mode = EXCLUSIVE')
        database.pragma('journal_mode = WAL')
        // Drafts that the store has taken leave no bytes.
        database.pragma('secure_delete = ON')
        checkFile(database)
        migrate(database, JOURNAL_SCHEMA)
      },
      { timeoutMs: 0, mode, driver },
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
    throw invalidOption(`${database.name} is not the file of a journal`)
}

/**
 * Commits. After a failure of the disk it returns if the transaction is kept nevertheless, throws the
 * failure once it is certainly not kept, and `OUTCOME_UNKNOWN` if the disk keeps failing.
 */
export function commitSurely(database: SqliteDatabase, isKept: () => boolean): void {
  try {
    database.exec('COMMIT')
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK')
    if (!isDiskFailure(error)) throw error
    try {
      attemptSettling(() => settleDisk(database))
    } catch (cause) {
      const what = `the disk failed during a commit of the journal ${database.name}, and again after it`
      throw outcomeUnknown(what, cause)
    }
    if (!isKept()) throw error
  }
}

/** Removes what the WAL has of the drafts of a journal that is empty now, and shrinks the file if it is large. */
export function clearFile(database: SqliteDatabase): void {
  try {
    const freePages = database.pragma('freelist_count', { simple: true }) as number
    // With no rows to copy, this is faster than to release page after page.
    if (freePages > MAX_FREE_PAGES) database.exec('VACUUM')
    database.pragma('wal_checkpoint(TRUNCATE)')
  } catch {
    // The drafts are removed. The next time that the journal is empty, or opened, repeats it.
  }
}

/** Wraps an error of the driver as `STORE_FAILED`; returns an `AuditLogError` unchanged. */
export function journalFailure(filename: string, error: unknown): AuditLogError {
  if (error instanceof AuditLogError) return error
  const reason = error instanceof Error ? error.message : String(error)
  return new AuditLogError('STORE_FAILED', `the journal ${filename} failed: ${reason}`, {
    cause: error,
  })
}
