import fs from 'node:fs'
import { invalidOption } from '../../../src/errors.js'
import type { SqliteDatabase } from './driver-types.js'

/*
 * Two SQLite libraries in one process know nothing of each other's POSIX locks on a file, and cancel them:
 * https://www.sqlite.org/howtocorrupt.html#_multiple_copies_of_sqlite_linked_into_the_same_application
 */

export const WHY_ONE = "Two SQLite libraries in one process cancel each other's locks on a file"

/**
 * SQL for the address of a library in memory, with its parameter. It differs between copies of one version. Without FTS3 there
 * is no such function.
 */
export const ADDRESS = 'hex(fts3_tokenizer(?))'
export const ADDRESS_PARAMETER = 'simple'

/** A library in this process. */
export interface Library {
  /** https://www.sqlite.org/lang_corefunc.html#sqlite_source_id */
  readonly sourceId: string
  /** Empty if it is not known. */
  readonly address: string
}

export const isSameLibrary = (one: Library, other: Library): boolean =>
  one.sourceId === other.sourceId &&
  (one.address === '' || other.address === '' || one.address === other.address)

/** The library of a connection. Reads no file. */
export function readLibrary(database: SqliteDatabase, hasCopies: boolean): Library {
  const { id } = database.prepare('SELECT sqlite_source_id() AS id').get() as {
    readonly id: string
  }
  return { sourceId: id, address: hasCopies ? addressIn(database) : '' }
}

/** The address of the library; empty if it cannot be read, as through a connection to a UTF-16 database. */
export function addressIn(database: SqliteDatabase): string {
  try {
    const row = database.prepare(`SELECT ${ADDRESS} AS address`).get(ADDRESS_PARAMETER)
    return (row as { readonly address: string }).address
  } catch {
    return ''
  }
}

interface OpenFile {
  /** Device and inode. */
  readonly file: string
  readonly library: Library
  readonly database: WeakRef<SqliteDatabase>
}

// Shared with other copies of this package, as each may have a library of its own.
const OPEN_FILES = Symbol.for('daybook.sqlite.open-files')

/** The files that are open in this thread. */
const openFiles = ((globalThis as Record<symbol, unknown>)[OPEN_FILES] ??=
  new Set()) as Set<OpenFile>

/** Device and inode of a file; `undefined` if there is none. Opens nothing. */
function identityOf(filename: string): string | undefined {
  const found = fs.statSync(filename, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}

/** Throws `INVALID_OPTION` if a log or a journal has the file open through another library. Call it before the file is opened. */
export function checkLibrary(filename: string, library: Library): void {
  const file = identityOf(filename)
  for (const open of openFiles)
    if (!open.database.deref()?.open) openFiles.delete(open)
    else if (open.file === file && !isSameLibrary(open.library, library))
      throw invalidOption(
        `${filename} is open in this process through another SQLite library. ${WHY_ONE}: use one driver, and one copy of it, for a file`,
      )
}

/** To be called when a file was opened. */
export function noteLibrary(database: SqliteDatabase, filename: string, library: Library): void {
  const file = identityOf(filename)
  if (file !== undefined) openFiles.add({ file, library, database: new WeakRef(database) })
}
