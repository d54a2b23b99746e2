import Database from 'better-sqlite3'
import type { AuditLog } from 'daybook'
import { afterEach, beforeEach } from 'vitest'
import { tempDir } from './temp.js'

/** A file that each test has anew. */
export interface SqliteFile {
  /** Closes the log after the test. */
  closing<Log extends Pick<AuditLog, 'close'>>(audit: Log): Log
  readonly filename: string
  /** Acts on the file with a handle that is closed afterwards. */
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
  const open: Pick<AuditLog, 'close'>[] = []
  beforeEach(() => {
    temp = tempDir()
  })
  afterEach(async () => {
    await Promise.all(open.splice(0).map((audit) => audit.close()))
    temp.remove()
  })
  const file: SqliteFile = {
    closing(audit) {
      open.push(audit)
      return audit
    },
    get filename() {
      return temp.file('audit.db')
    },
    execute: (act) => execute(file.filename, act),
  }
  return file
}
