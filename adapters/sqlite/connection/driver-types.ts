/*
 * The part of better-sqlite3 (12 or newer) that is used here, as structural types: compiling against
 * Daybook does not need its types, and other stores do not need the package. The handles of `node:sqlite`
 * get the same interface (see node-sqlite.ts).
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

export interface DriverOptions {
  /** Milliseconds for which SQLite waits for locks. */
  readonly timeout: number
  readonly readonly?: boolean
  readonly fileMustExist?: boolean
}
