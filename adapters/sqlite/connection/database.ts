import { AuditLogError } from '../../../src/errors.js'
import { DEFAULT_FILE_MODE } from '../../../src/store/file-mode.js'
import type { SqliteDatabase } from './driver-types.js'
import { type Driver, loadDriver } from './driver.js'
import { codeOf } from './driver-errors.js'
import { createFile } from './file.js'
import { checkLibrary, noteLibrary } from './library.js'
import { DEFAULT_CACHE_BYTES, limitPageCache } from './page-cache.js'

export type { SqliteDatabase, SqliteStatement } from './driver-types.js'

// While a connection opens, SQLite itself waits for processes that open or migrate the same file.
const OPEN_TIMEOUT_MS = 10_000

// A thread checkpoints the WAL long before it has this number of pages. If it cannot, a commit does:
// https://www.sqlite.org/wal.html#ckpt
export const CHECKPOINT_PAGES = 16_000

export interface OpenOptions {
  readonly timeoutMs?: number
  /** @default the default driver */
  readonly driver?: Driver
  /** Permissions of the file if it is created. @default 0o600 */
  readonly mode?: number
  /** Never creates the file. */
  readonly mustExist?: boolean
  /** Opens an existing file, and changes nothing in it. */
  readonly readOnly?: boolean
  /** Memory for pages of the file. @default `DEFAULT_CACHE_BYTES` */
  readonly cacheBytes?: number
}

/**
 * Opens a connection whose commits are durable, and calls `prepare` with it. Until then it waits up to
 * `timeoutMs` (default 10 seconds) for locks; after that, statements throw `SQLITE_BUSY` at once.
 */
export function openDatabase(
  filename: string,
  prepare: (database: SqliteDatabase) => void,
  options: OpenOptions = {},
): SqliteDatabase {
  const { timeoutMs = OPEN_TIMEOUT_MS, mode = DEFAULT_FILE_MODE, readOnly = false } = options
  const fileMustExist = readOnly || options.mustExist === true
  const driver = options.driver ?? loadDriver()
  let database: SqliteDatabase | undefined
  try {
    checkLibrary(filename, driver.library)
    if (!fileMustExist) createFile(filename, mode)
    database = driver.open(filename, { timeout: timeoutMs, readonly: readOnly, fileMustExist })
    noteLibrary(database, filename, driver.library)
    // better-sqlite3 is compiled with NORMAL as WAL's default, which loses the last commits when
    // the power goes: https://www.sqlite.org/pragma.html#pragma_synchronous
    database.pragma('synchronous = FULL')
    limitPageCache(database, options.cacheBytes ?? DEFAULT_CACHE_BYTES)
    database.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
    database.pragma('temp_store = MEMORY')
    prepare(database)
    // SQLite's busy handler would block the event loop, and a busy process could starve the others.
    database.pragma('busy_timeout = 0')
    return database
  } catch (error) {
    database?.close()
    if (error instanceof AuditLogError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new AuditLogError('STORE_FAILED', `cannot open the SQLite file ${filename}: ${reason}`, {
      cause: error,
    })
  }
}

/** True if SQLite has found the file damaged: https://www.sqlite.org/rescode.html#corrupt */
export const isCorrupt = (error: unknown): boolean =>
  (error instanceof AuditLogError && isCorrupt(error.cause)) ||
  ['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_IOERR_CORRUPTFS'].some((code) =>
    codeOf(error).startsWith(code),
  )

/** An error like those of SQLite, for a row that SQLite can read but that makes no sense. */
export const damagedFile = (reason: string): Error =>
  Object.assign(new Error(reason), { code: 'SQLITE_CORRUPT' })

/** True if SQLite could not read the attributes of a row, or the pages that hold them. */
export const isUnreadable = (error: unknown): boolean =>
  isCorrupt(error) || (error instanceof Error && error.message === 'malformed JSON')

/** True if the statement had no effect because another connection held a lock. */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error)
  return code.startsWith('SQLITE_BUSY') || code === 'SQLITE_LOCKED'
}
