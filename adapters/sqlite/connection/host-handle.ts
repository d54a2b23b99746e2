import fs from 'node:fs'
import { type AuditLogError, invalidOption } from '../../../src/errors.js'
import type { SqliteDatabase } from './driver-types.js'
import { type Driver, libraryOf, type SqliteDriverName } from './driver.js'
import { checkLibrary, isSameLibrary, WHY_ONE } from './library.js'
import { fromNodeSqlite, isNodeSqliteDatabase, type NodeSqliteDatabase } from './node-sqlite.js'

/** A handle of one of the two drivers. */
export type HostDatabase = SqliteDatabase | NodeSqliteDatabase

const isBetterSqlite = (value: object): value is SqliteDatabase =>
  'open' in value &&
  typeof value.open === 'boolean' &&
  'prepare' in value &&
  typeof value.prepare === 'function'

/** The driver of a handle; `undefined` for any other object. */
export function driverOf(handle: object): SqliteDriverName | undefined {
  if (isNodeSqliteDatabase(handle)) return 'node:sqlite'
  return isBetterSqlite(handle) ? 'better-sqlite3' : undefined
}

/** Any handle with the interface of better-sqlite3. */
export const asDatabase = (handle: HostDatabase): SqliteDatabase =>
  isNodeSqliteDatabase(handle) ? fromNodeSqlite(handle) : handle

const isOpen = (handle: HostDatabase): boolean =>
  isNodeSqliteDatabase(handle) ? handle.isOpen : handle.open

/** Says what is wrong with an open handle that is not of the driver's library; see library.ts. */
function foreignLibrary(handle: HostDatabase, driver: Driver): string | undefined {
  const other = driverOf(handle)!
  if (other !== driver.name)
    return (
      `the handle is of ${other}, and the store uses ${driver.name}. ${WHY_ONE}: ` +
      `give the store { driver: '${other}' }, or open the handle with ${driver.name}`
    )
  if (!isSameLibrary(libraryOf(asDatabase(handle), other), driver.library))
    return (
      `the handle is of another copy of ${other} than the store's. ${WHY_ONE}: ` +
      `install one copy (npm ls ${other})`
    )
  return undefined
}

/** The canonical path of a connection's main database; `undefined` for one in memory. */
export function fileOf(database: SqliteDatabase): string | undefined {
  const schemas = database.prepare('PRAGMA database_list').all() as {
    readonly name: string
    readonly file: string | null
  }[]
  const file = schemas.find(({ name }) => name === 'main')?.file
  if (!file) return undefined
  try {
    // Except on Windows, SQLite has already resolved symbolic links.
    return fs.realpathSync(file)
  } catch {
    return file
  }
}

/** Throws `INVALID_OPTION` if the log of the handle's file is open through another library than the handle's. */
export function checkHandle(handle: HostDatabase): void {
  const database = asDatabase(handle)
  const file = fileOf(database)
  if (file !== undefined) checkLibrary(file, libraryOf(database, driverOf(handle)!))
}

/** The error for a transaction in which the store cannot write. */
export const refused = (message: string, cause?: unknown): AuditLogError =>
  invalidOption(`transaction: ${message}`, cause)

/** Returns the name of the file of the `database` option. Throws `INVALID_OPTION` for a handle of another library. */
export function fileOfHandle(handle: HostDatabase, driver: Driver): string {
  const wrong = (message: string): AuditLogError => invalidOption(`database: ${message}`)
  if (!handle || !driverOf(handle)) throw wrong(`the SQLite store takes a ${driver.name} database`)
  const foreign = isOpen(handle) ? foreignLibrary(handle, driver) : undefined
  if (foreign) throw wrong(foreign)
  return asDatabase(handle).name
}

/**
 * Returns the transaction if it is a handle of the driver that is open on the file, and otherwise throws
 * `INVALID_OPTION`. The handle is only used to read the name of its file and of its library.
 */
export function hostHandle(
  transaction: object,
  file: string | undefined,
  driver: Driver,
): SqliteDatabase {
  if (!driverOf(transaction)) throw refused(`the SQLite store takes a ${driver.name} database`)
  const database = asDatabase(transaction as HostDatabase)
  if (!database.open) throw refused('the database handle is closed')
  let foreign: string | undefined
  let other: string | undefined
  try {
    foreign = foreignLibrary(transaction as HostDatabase, driver)
    if (!foreign) other = fileOf(database)
  } catch (cause) {
    throw refused('the file of the database handle cannot be read', cause)
  }
  if (foreign) throw refused(foreign)
  if (other === undefined || other !== file)
    throw refused(`the database handle is open on ${other ?? 'no file'}, not on ${file}`)
  return database
}
