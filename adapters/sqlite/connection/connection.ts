import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { AuditLogError, outcomeUnknown, throwIfAborted } from '../../../src/errors.js'
import type { AppendOptions } from '../../../src/store/store.js'
import { attemptSettling, isDiskFailure, settleDisk } from './disk-failure.js'
import { watchFile } from './file.js'
import { isBusy, isCorrupt, type SqliteDatabase, type SqliteStatement } from './database.js'

/** The store's own connection. Waiting for the locks of other connections does not block the event loop. */
export interface Connection {
  readonly database: SqliteDatabase
  /** Returns the prepared statement for this text, from a cache. */
  readonly statement: (text: string) => SqliteStatement
  /**
   * Runs `act` again until no lock stops it. If a lock stops `act`, it must have had no effect. Rejects
   * with `CLOSED`, with `STORE_FAILED` for other errors of the driver, and with `ABORTED`, with the
   * lock error in `cause`, when the signal aborts or the deadline passes first.
   */
  retry<Result>(act: () => Result, options: AppendOptions): Promise<Result>
  /**
   * Runs `act` in one write transaction, with `retry`. After a commit that failed on the disk it rejects with
   * `STORE_FAILED` once the transaction is certainly not kept, and with `OUTCOME_UNKNOWN` if the disk goes on failing.
   */
  write<Result>(act: () => Result, options: AppendOptions): Promise<Result>
  /**
   * Tries once to run `act` in a write transaction; throws the errors of the driver. Throws `STORE_FAILED` if
   * the file was deleted, moved or replaced, and `OUTCOME_UNKNOWN` if that happened during the transaction.
   */
  tryWrite<Result>(act: () => Result): Result
  /** Throws `STORE_FAILED` if the file was deleted, moved or replaced. */
  checkFile(): void
  /** Runs `act` in a read transaction. */
  snapshot<Result>(act: () => Result): Result
  /** Waits between two transactions, so that other connections can get the lock. */
  pause(options: AppendOptions, ms?: number): Promise<void>
  /** True if another connection's lock was met recently. */
  isContended(): boolean
}

const CONTENTION_MS = 100
// How often to check the place of the file before a commit; after each commit it is confirmed anyway.
const CHECK_MS = 5
// How long to wait for readers of the WAL after a commit has failed on the disk.
const SETTLE_MS = 1000

const jitter = (): number => 1 + Math.random() * 2

export function createConnection(database: SqliteDatabase): Connection {
  const statements = new LRUCache<string, SqliteStatement>({ max: 100 })
  const file = watchFile(database.name)
  let checkedAt = -Infinity
  let lastBusy = -Infinity
  /** The error of a commit that failed on the disk, until nothing of the commit is left. */
  let failedCommit: unknown

  const statement = (text: string): SqliteStatement => {
    let prepared = statements.get(text)
    if (!prepared) {
      prepared = database.prepare(text)
      statements.set(text, prepared)
    }
    return prepared
  }

  const settle = (): void => {
    attemptSettling(() => settleDisk(database))
    failedCommit = undefined
  }

  const tryWrite = <Result>(act: () => Result): Result => {
    const now = performance.now()
    if (now - checkedAt >= CHECK_MS) {
      file.check()
      checkedAt = now
    }
    if (failedCommit !== undefined) settle()
    statement('BEGIN IMMEDIATE').run()
    let result: Result
    let isCommitting = false
    try {
      result = act()
      isCommitting = true
      statement('COMMIT').run()
    } catch (error) {
      if (isCommitting && isDiskFailure(error)) failedCommit = error
      if (database.inTransaction) statement('ROLLBACK').run()
      throw error
    }
    try {
      file.confirm()
    } catch (error) {
      checkedAt = -Infinity
      throw error
    }
    return result
  }

  const snapshot = <Result>(act: () => Result): Result => {
    statement('BEGIN').run()
    try {
      return act()
    } finally {
      if (database.inTransaction) statement('COMMIT').run()
    }
  }

  /** Throws after the deadline, an abort or `close`; `cause` is the lock error of the last attempt. */
  const check = ({ signal, deadline = Infinity }: AppendOptions, cause: unknown): void => {
    if (cause === undefined) throwIfAborted(signal)
    if (signal?.aborted || performance.now() >= deadline)
      throw new AuditLogError('ABORTED', 'the operation was aborted', { cause })
    if (!database.open) throw new AuditLogError('CLOSED', 'the SQLite store is closed')
  }

  const gap = async ({ signal }: AppendOptions, ms = jitter()): Promise<void> => {
    // The caller checks the signal next.
    await delay(ms, undefined, signal && { signal }).catch(() => {})
  }

  const retry = async <Result>(act: () => Result, options: AppendOptions): Promise<Result> => {
    let lock: unknown
    for (;;) {
      check(options, lock)
      try {
        return act()
      } catch (error) {
        if (!isBusy(error)) throw storeFailure(error)
        lock = error
        lastBusy = performance.now()
      }
      await gap(options)
    }
  }

  const write = async <Result>(act: () => Result, options: AppendOptions): Promise<Result> => {
    try {
      return await retry(() => tryWrite(act), options)
    } catch (error) {
      if (failedCommit === undefined || (error as Error).cause !== failedCommit) throw error
      try {
        // Also if the disk has used up the time of the call.
        await retry(settle, { deadline: performance.now() + SETTLE_MS })
      } catch (cause) {
        throw outcomeUnknown(
          'the disk failed during a commit of the SQLite store, and again after it',
          cause,
        )
      }
      throw error
    }
  }

  return {
    database,
    statement,
    retry,
    write,
    tryWrite,
    checkFile: () => file.check(),
    snapshot,
    pause: gap,
    isContended: () => performance.now() - lastBusy < CONTENTION_MS,
  }
}

/** Wraps an error of the driver as `STORE_FAILED`; returns an `AuditLogError` unchanged. */
export function storeFailure(error: unknown): AuditLogError {
  if (error instanceof AuditLogError) return error
  const reason = error instanceof Error ? error.message : String(error)
  const message = isCorrupt(error)
    ? `the SQLite file is damaged: ${reason}`
    : `the SQLite store failed: ${reason}`
  return new AuditLogError('STORE_FAILED', message, { cause: error })
}
