import type { SqliteDatabase } from './driver-types.js'
import { codeOf } from './driver-errors.js'

/*
 * If the sync of a commit fails, SQLite rolls the transaction back, but its frames stay in the WAL,
 * behind the valid ones. If every process on the file dies before the next commit overwrites them, the
 * recovery finds a complete commit there: https://www.sqlite.org/walformat.html#recovery. In addition,
 * the kernel may have dropped earlier frames that were not synced yet, which it reports only once.
 */

/** True for errors of the disk, after which a commit may be in the file or not. */
export function isDiskFailure(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_IOERR')
}

/**
 * Call it after a commit for whose error {@link isDiskFailure} is true, or after a sync that failed. Once it returns, that commit
 * is not in the WAL, and everything that is visible is durable. Throws the driver's errors, `SQLITE_BUSY`
 * among them, and can be repeated.
 */
export function settleDisk(database: SqliteDatabase): void {
  const level = database.pragma('synchronous', { simple: true }) as number
  database.pragma('synchronous = FULL')
  try {
    checkpointAndCommit(database)
  } finally {
    database.pragma(`synchronous = ${level}`)
  }
}

/** Writes every committed page to the database, and empties the WAL. Throws `SQLITE_BUSY` while another connection uses it. */
export function emptyWal(database: SqliteDatabase): void {
  const [{ busy }] = database.pragma('wal_checkpoint(TRUNCATE)') as [{ readonly busy: 0 | 1 }]
  if (busy) throw Object.assign(new Error('the WAL is in use'), { code: 'SQLITE_BUSY' })
}

function checkpointAndCommit(database: SqliteDatabase): void {
  emptyWal(database)
  // Shows that the disk works again, and makes the empty WAL durable.
  writeNothing(database)
}

/** Commits a page without a change: the value that the host has set. */
export function writeNothing(database: SqliteDatabase): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    const version = database.pragma('user_version', { simple: true }) as number
    database.pragma(`user_version = ${version}`)
    database.exec('COMMIT')
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK')
    throw error
  }
}

const ATTEMPTS = 3

/** Calls `settle` until it succeeds, a few times; throws its last error. Each file may report one failure more. */
export function attemptSettling(settle: () => void, attempts = ATTEMPTS): void {
  try {
    settle()
  } catch (error) {
    if (attempts === 1 || !isDiskFailure(error)) throw error
    attemptSettling(settle, attempts - 1)
  }
}
