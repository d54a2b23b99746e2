import { createRequire } from 'node:module'
import { AuditLogError } from '../../../src/errors.js'

/*
 * The part of better-sqlite3 (12 or newer) that is used here, by shape: its types are not needed to
 * compile against Daybook, nor is the package where another store is used.
 */

export interface SqliteStatement {
  run(...params: unknown[]): { readonly changes: number }
  get(...params: unknown[]): unknown
  all(...params: unknown[]): unknown[]
  iterate(...params: unknown[]): IterableIterator<unknown>
  safeIntegers(toggle: boolean): SqliteStatement
  raw(toggle: boolean): SqliteStatement
}

export interface SqliteDatabase {
  readonly name: string
  readonly open: boolean
  readonly inTransaction: boolean
  prepare(sql: string): SqliteStatement
  exec(sql: string): unknown
  pragma(source: string, options?: { simple?: boolean }): unknown
  close(): unknown
}

type Driver = new (filename: string, options: { timeout: number }) => SqliteDatabase

/** The class of better-sqlite3, loaded when it is first needed; throws `MISSING_DEPENDENCY`. */
export function loadDriver(): Driver {
  try {
    return createRequire(import.meta.url)('better-sqlite3') as Driver
  } catch (cause) {
    throw new AuditLogError(
      'MISSING_DEPENDENCY',
      'SQLite needs the package better-sqlite3: npm install better-sqlite3',
      { cause },
    )
  }
}

// While a connection opens, SQLite itself waits for others that open or migrate the same file.
const OPEN_TIMEOUT_MS = 10_000

// Pages of the WAL after which a commit also writes them to the file.
const USUAL_CHECKPOINT = 4000
const SMALL_CHECKPOINT = 100

function setCheckpoint(database: SqliteDatabase, pages: number): void {
  database.pragma(`wal_autocheckpoint = ${pages}`)
}

/** What `act` resolves to; meanwhile commits that change many pages take the event loop for less long. */
export async function withSmallCheckpoints<Result>(
  database: SqliteDatabase,
  act: () => Promise<Result>,
): Promise<Result> {
  if (database.open) setCheckpoint(database, SMALL_CHECKPOINT)
  try {
    return await act()
  } finally {
    if (database.open) setCheckpoint(database, USUAL_CHECKPOINT)
  }
}

/**
 * Opens a connection of our own, durable to the last commit, and waits for others meanwhile as long
 * as `timeoutMs`; later waiting is the caller's.
 */
export function openDatabase(
  filename: string,
  prepare: (database: SqliteDatabase) => void,
  timeoutMs = OPEN_TIMEOUT_MS,
): SqliteDatabase {
  const Database = loadDriver()
  let database: SqliteDatabase | undefined
  try {
    database = new Database(filename, { timeout: timeoutMs })
    // better-sqlite3 is compiled with NORMAL as WAL's default, which loses the last commits when
    // the power goes: https://www.sqlite.org/pragma.html#pragma_synchronous
    database.pragma('synchronous = FULL')
    database.pragma('cache_size = -32768')
    setCheckpoint(database, USUAL_CHECKPOINT)
    database.pragma('temp_store = MEMORY')
    prepare(database)
    // SQLite's busy handler would block the event loop, and lets a busy process starve others.
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

/** True where another connection's lock was in the way and nothing was done. */
export function isBusy(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return code.startsWith('SQLITE_BUSY') || code === 'SQLITE_LOCKED'
}
