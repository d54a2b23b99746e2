import type { SqliteDatabase, SqliteStatement } from './database.js'
import { attemptSettling, isDiskFailure, settleDisk } from './disk-failure.js'
import type { FileWatch } from './file.js'

/** Single attempts at transactions. They throw the errors of the driver, `SQLITE_BUSY` among them. */
export interface Transactions {
  /** See `Connection.tryWrite`. */
  readonly tryWrite: <Result>(act: () => Result) => Result
  /** Runs `act` in a read transaction. */
  readonly snapshot: <Result>(act: () => Result) => Result
  /** Removes what is left of a commit that failed on the disk; `tryWrite` does so first. */
  readonly settle: () => void
  /** True if the error is that of a commit that failed on the disk and is not settled yet. */
  readonly isUnsettled: (error: unknown) => boolean
  /** Notes that a sync has failed: until `settle`, a later one proves nothing. */
  readonly distrust: (error: unknown) => void
  /** The error of a commit or of a sync that failed and is not settled yet. */
  readonly unsettled: () => unknown
  /** The number of commits so far. */
  readonly commits: () => number
}

// How often to check the place of the file before a commit; after each commit it is confirmed anyway.
const CHECK_MS = 5

export function createTransactions(
  database: SqliteDatabase,
  statement: (text: string) => SqliteStatement,
  file: FileWatch,
): Transactions {
  let checkedAt = -Infinity
  /** The error of a commit or a sync that failed on the disk, until it is settled. */
  let failure: unknown
  let commits = 0

  const checkFile = (): void => {
    const now = performance.now()
    if (now - checkedAt < CHECK_MS) return
    file.check()
    checkedAt = now
  }

  const settle = (): void => {
    attemptSettling(() => settleDisk(database))
    failure = undefined
  }

  const commit = <Result>(act: () => Result): Result => {
    statement('BEGIN IMMEDIATE').run()
    let isCommitting = false
    try {
      const result = act()
      isCommitting = true
      statement('COMMIT').run()
      commits += 1
      return result
    } catch (error) {
      if (isCommitting && isDiskFailure(error)) failure = error
      if (database.inTransaction) statement('ROLLBACK').run()
      throw error
    }
  }

  return {
    tryWrite(act) {
      checkFile()
      if (failure !== undefined) settle()
      const result = commit(act)
      try {
        file.confirm()
      } catch (error) {
        checkedAt = -Infinity
        throw error
      }
      return result
    },
    snapshot(act) {
      statement('BEGIN').run()
      let isDone = false
      try {
        const result = act()
        isDone = true
        return result
      } finally {
        // After a read of a damaged page, a commit would fail with the same error.
        if (database.inTransaction) statement(isDone ? 'COMMIT' : 'ROLLBACK').run()
      }
    },
    settle,
    distrust: (error) => void (failure = error),
    unsettled: () => failure,
    commits: () => commits,
    isUnsettled: (error) => failure !== undefined && error === failure,
  }
}
