import fs from 'node:fs'
import { AuditLogError } from '../../../src/errors.js'
import type { SqliteDatabase } from './database.js'

const isHandle = (value: object): value is SqliteDatabase =>
  'open' in value &&
  typeof value.open === 'boolean' &&
  'prepare' in value &&
  typeof value.prepare === 'function'

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

/** The error for a transaction in which the store cannot write. */
export const refused = (message: string, cause?: unknown): AuditLogError =>
  new AuditLogError('INVALID_OPTION', `transaction: ${message}`, { cause })

/**
 * Returns the transaction if it is a better-sqlite3 handle that is open on the file, and otherwise throws
 * `INVALID_OPTION`. The handle is only used to read the name of its file.
 */
export function hostHandle(transaction: object, file: string | undefined): SqliteDatabase {
  if (!isHandle(transaction)) throw refused('the SQLite store takes a better-sqlite3 database')
  if (!transaction.open) throw refused('the database handle is closed')
  let other: string | undefined
  try {
    other = fileOf(transaction)
  } catch (cause) {
    throw refused('the file of the database handle cannot be read', cause)
  }
  if (other === undefined || other !== file)
    throw refused(`the database handle is open on ${other ?? 'no file'}, not on ${file}`)
  return transaction
}
