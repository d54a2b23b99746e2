import { AuditLogError } from '../../../src/errors.js'
import {
  findPackage,
  firstLine,
  loadPackage,
  missingDependency,
} from '../../../src/store-kit/packages.js'
import { DEFAULT_FILE_MODE } from '../../../src/store/file-mode.js'
import { requireNode } from '../../../src/store/node-version.js'
import { badPair } from './driver-versions.js'
import { createFile } from './file.js'

/*
 * The part of better-sqlite3 (12 or newer) that is used here, as structural types: compiling against
 * Daybook does not need its types, and other stores do not need the package.
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

type Driver = new (
  filename: string,
  options: { timeout: number; readonly?: boolean; fileMustExist?: boolean },
) => SqliteDatabase

const PACKAGE = 'better-sqlite3'

const REBUILD =
  'its native binary is missing or was made for another version of Node. Make it again with npm rebuild better-sqlite3; ' +
  'npm 12 and newer run its install script only with "allowScripts": { "better-sqlite3": true } in package.json'

let loaded: Driver | undefined

/**
 * Loads better-sqlite3. Throws `MISSING_DEPENDENCY` if it is not installed or has no binary for this process, and
 * also, without loading it, if it would end the process.
 */
export function loadDriver(): Driver {
  if (loaded) return loaded
  requireNode()
  const version = findPackage(PACKAGE)?.version
  const reason = version && badPair(process.versions.node, version)
  if (reason) throw missingDependency(reason)
  const driver = loadPackage({ name: PACKAGE, neededBy: 'SQLite' }) as Driver
  try {
    // Loads the binary.
    new driver(':memory:', { timeout: 0 }).close()
  } catch (cause) {
    throw missingDependency(`${PACKAGE} cannot be used (${firstLine(cause)}): ${REBUILD}`, cause)
  }
  return (loaded = driver)
}

// While a connection opens, SQLite itself waits for processes that open or migrate the same file.
const OPEN_TIMEOUT_MS = 10_000

// Pages in the WAL after which a commit runs a checkpoint: https://www.sqlite.org/wal.html#ckpt
const CHECKPOINT_PAGES = 4000
const SMALL_CHECKPOINT_PAGES = 100

function setCheckpoint(database: SqliteDatabase, pages: number): void {
  database.pragma(`wal_autocheckpoint = ${pages}`)
}

/** Runs `act` with small checkpoints, so that commits that change many pages block the event loop less. */
export async function withSmallCheckpoints<Result>(
  database: SqliteDatabase,
  act: () => Promise<Result>,
): Promise<Result> {
  if (database.open) setCheckpoint(database, SMALL_CHECKPOINT_PAGES)
  try {
    return await act()
  } finally {
    if (database.open) setCheckpoint(database, CHECKPOINT_PAGES)
  }
}

export interface OpenOptions {
  readonly timeoutMs?: number
  /** Permissions of the file if it is created. @default 0o600 */
  readonly mode?: number
  /** Never creates the file. */
  readonly mustExist?: boolean
  /** Opens an existing file, and changes nothing in it. */
  readonly readOnly?: boolean
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
  const Database = loadDriver()
  let database: SqliteDatabase | undefined
  try {
    if (!fileMustExist) createFile(filename, mode)
    database = new Database(filename, { timeout: timeoutMs, readonly: readOnly, fileMustExist })
    // better-sqlite3 is compiled with NORMAL as WAL's default, which loses the last commits when
    // the power goes: https://www.sqlite.org/pragma.html#pragma_synchronous
    database.pragma('synchronous = FULL')
    database.pragma('cache_size = -32768')
    setCheckpoint(database, CHECKPOINT_PAGES)
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

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/** True if SQLite has found the file damaged: https://www.sqlite.org/rescode.html#corrupt */
export const isCorrupt = (error: unknown): boolean =>
  (error instanceof AuditLogError && isCorrupt(error.cause)) ||
  ['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_IOERR_CORRUPTFS'].some((code) =>
    codeOf(error).startsWith(code),
  )

/** True if SQLite could not read the attributes of a row, or the pages that hold them. */
export const isUnreadable = (error: unknown): boolean =>
  isCorrupt(error) || (error instanceof Error && error.message === 'malformed JSON')

/** True if the statement had no effect because another connection held a lock. */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error)
  return code.startsWith('SQLITE_BUSY') || code === 'SQLITE_LOCKED'
}
