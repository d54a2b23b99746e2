import { pathToFileURL } from 'node:url'
import type { DriverOptions, SqliteDatabase, SqliteStatement } from './driver-types.js'

/*
 * The part of `node:sqlite` that is used here, as structural types: compiling against Daybook does not need the
 * types of a Node that has it. https://nodejs.org/api/sqlite.html
 */

interface NodeStatement {
  run(...params: unknown[]): unknown
  get(...params: unknown[]): unknown
  all(...params: unknown[]): unknown[]
  iterate(...params: unknown[]): Iterator<unknown>
  setReadBigInts(enabled: boolean): void
  setReturnArrays(enabled: boolean): void
}

/** A `DatabaseSync` of `node:sqlite`. */
export interface NodeSqliteDatabase {
  readonly isOpen: boolean
  readonly isTransaction: boolean
  location(): string | null
  prepare(sql: string): NodeStatement
  exec(sql: string): void
  close(): void
}

export interface NodeSqlite {
  readonly DatabaseSync: new (
    location: string | URL,
    options: { readonly timeout: number; readonly readOnly: boolean },
  ) => NodeSqliteDatabase
}

export const isNodeSqliteDatabase = (value: object): value is NodeSqliteDatabase =>
  'isOpen' in value &&
  typeof value.isOpen === 'boolean' &&
  'prepare' in value &&
  typeof value.prepare === 'function'

class Statement implements SqliteStatement {
  readonly #statement: NodeStatement
  #isRaw = false

  constructor(statement: NodeStatement) {
    this.#statement = statement
    // The host may have set both for its handle.
    statement.setReturnArrays(false)
    statement.setReadBigInts(false)
  }

  run(...params: unknown[]): { readonly changes: number } {
    return this.#statement.run(...params) as { readonly changes: number }
  }

  get(...params: unknown[]): unknown {
    return this.#statement.get(...params)
  }

  all(...params: unknown[]): unknown[] {
    return this.#statement.all(...params)
  }

  iterate(...params: unknown[]): IterableIterator<unknown> {
    return this.#statement.iterate(...params) as IterableIterator<unknown>
  }

  safeIntegers(toggle: boolean): this {
    this.#statement.setReadBigInts(toggle)
    return this
  }

  raw(toggle: boolean): this {
    if (toggle !== this.#isRaw) this.#statement.setReturnArrays(toggle)
    this.#isRaw = toggle
    return this
  }
}

/** A handle of `node:sqlite` with the interface of better-sqlite3. */
class Database implements SqliteDatabase {
  readonly name: string
  readonly #database: NodeSqliteDatabase

  constructor(database: NodeSqliteDatabase) {
    this.name = (database.isOpen && database.location()) || ''
    this.#database = database
  }

  get open(): boolean {
    return this.#database.isOpen
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction
  }

  prepare(sql: string): SqliteStatement {
    return new Statement(this.#database.prepare(sql))
  }

  exec(sql: string): void {
    this.#database.exec(sql)
  }

  pragma(source: string, { simple = false }: { simple?: boolean } = {}): unknown {
    const rows = this.prepare(`PRAGMA ${source}`).raw(simple).all()
    return simple ? (rows[0] as unknown[] | undefined)?.[0] : rows
  }

  close(): void {
    this.#database.close()
  }
}

export const fromNodeSqlite = (database: NodeSqliteDatabase): SqliteDatabase =>
  new Database(database)

export function openNodeSqlite(
  { DatabaseSync }: NodeSqlite,
  filename: string,
  { timeout, readonly = false, fileMustExist = false }: DriverOptions,
): SqliteDatabase {
  const options = { timeout, readOnly: readonly }
  if (!fileMustExist || readonly) return new Database(new DatabaseSync(filename, options))
  // https://www.sqlite.org/uri.html#urimode
  const url = pathToFileURL(filename)
  url.search = 'mode=rw'
  return new Database(new DatabaseSync(url, options))
}
