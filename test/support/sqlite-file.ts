import Database from 'better-sqlite3'
import { afterEach, beforeEach } from 'vitest'
import { tempDir } from './temp.js'

/** A new file for each test. */
export interface SqliteFile {
  /** Closes the objects after the test, in reverse order. */
  closing<Opened extends { close(): unknown }>(one: Opened): Opened
  readonly filename: string
  readonly folder: string
  /** The path of another file in the folder. */
  beside(name: string): string
  /** Runs a function on the file with a new handle, and closes the handle. */
  execute<Result>(act: (database: Database.Database) => Result): Result
}

export function execute<Result>(
  filename: string,
  act: (database: Database.Database) => Result,
): Result {
  const database = new Database(filename)
  try {
    return act(database)
  } finally {
    database.close()
  }
}

export function useSqliteFile(): SqliteFile {
  let temp: ReturnType<typeof tempDir>
  const open: { close(): unknown }[] = []
  beforeEach(() => {
    temp = tempDir()
  })
  afterEach(async () => {
    for (const one of open.splice(0).toReversed()) await one.close()
    temp.remove()
  })
  const file: SqliteFile = {
    closing(one) {
      open.push(one)
      return one
    },
    get filename() {
      return temp.file('audit.db')
    },
    get folder() {
      return temp.dir
    },
    beside: (name) => temp.file(name),
    execute: (act) => execute(file.filename, act),
  }
  return file
}
