import fs from 'node:fs'
import { AuditLogError } from '../../../src/errors.js'
import type { SqliteDatabase } from './database.js'

const isHandle = (value: object): value is SqliteDatabase =>
  'open' in value &&
  typeof value.open === 'boolean' &&
  'prepare' in value &&
  typeof value.prepare === 'function'

/** The file of a connection's main database, by the one path that all of its names lead to. */
export function fileOf(database: SqliteDatabase): string | undefined {
  const schemas = database.prepare('PRAGMA database_list').all() as {
    readonly name: string
    readonly file: string | null
  }[]
  const file = schemas.find(({ name }) => name === 'main')?.file
  if (!file) return undefined
  try {
    // SQLite has followed links already, but not on Windows.
    return fs.realpathSync(file)
  } catch {
    return file
  }
}

/**
 * Takes a better-sqlite3 handle of the host's that is open on the file; others are refused with
 * `INVALID_OPTION`. Reads nothing but the file's name.
 */
export function hostHandle(transaction: object, file: string | undefined): SqliteDatabase {
  const refused = (message: string, cause?: unknown): AuditLogError =>
    new AuditLogError('INVALID_OPTION', `transaction: ${message}`, { cause })
  if (!isHandle(transaction)) throw refused('the SQLite store takes a better-sqlite3 database')
  if (!transaction.open) throw refused('the database handle is closed')
  let other: string | undefined
  try {
    other = fileOf(transaction)
  } catch (cause) {
    throw refused('the database handle does not tell its file', cause)
  }
  if (other === undefined || other !== file)
    throw refused(`the database handle is on ${other ?? 'no file'}, not on ${file}`)
  return transaction
}
