import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { AuditLogError, outcomeUnknown, throwIfAborted } from '../../../src/errors.js'
import { LOST_TABLES } from '../../../src/store/lost-tables.js'
import { attemptSettling, isDiskFailure, settleDisk } from './disk-failure.js'
import { type Commits, createDurability, type Durability, type WriteOptions } from './durability.js'
import { type FileWatch, watchFile } from './file.js'
import { isBusy, isCorrupt, type SqliteDatabase, type SqliteStatement } from './database.js'
import { type Driver, loadDriver } from './driver.js'
import type { WalSync } from './wal-sync.js'

export type { WriteOptions } from './durability.js'

/** The store's own connection. Waiting for the locks of other connections does not block the event loop. */
export interface Connection extends Pick<Durability, 'durable' | 'durableReads'> {
  readonly database: SqliteDatabase
  readonly driver: Driver
  /** Returns the prepared statement for this text, from a cache. */
  readonly statement: (text: string) => SqliteStatement
  /**
   * Runs `act` again until no lock stops it. If a lock stops `act`, it must have had no effect. Rejects
   * with `CLOSED`, with `STORE_FAILED` for other errors of the driver, and with `ABORTED`, with the
   * lock error in `cause`, when the signal aborts or the deadline passes first.
   */
  retry<Result>(act: () => Result, options: WriteOptions): Promise<Result>
  /** Like `retry`, but calls `act` at once and returns its result; a promise only while another connection holds the lock. */
  attempt<Result>(act: () => Result, options: WriteOptions): Result | Promise<Result>
  /**
   * Runs `act` in one write transaction, with `retry`, and resolves once it is visible. After a commit that failed on the
   * disk it rejects with `STORE_FAILED` once the transaction is certainly not kept, and with `OUTCOME_UNKNOWN`
   * if the disk keeps failing. Begins no transaction while the disk does not finish a sync.
   */
  commit<Result>(act: () => Result, options: WriteOptions): Promise<Result>
  /** `commit`, then `durable`. */
  write<Result>(act: () => Result, options: WriteOptions): Promise<Result>
  /**
   * Tries once to run `act` in a write transaction; throws the errors of the driver. Throws `STORE_FAILED` if
   * the file was deleted, moved or replaced, and `OUTCOME_UNKNOWN` if that happened during the transaction.
   * The commit does not wait for the disk.
   */
  tryWrite<Result>(act: () => Result): Result
  /** Throws `STORE_FAILED` if the file was deleted, moved or replaced. */
  checkFile(): void
  /** Runs `act` in a read transaction. */
  snapshot<Result>(act: () => Result): Result
  /** Waits between two transactions, so that other connections can get the lock. */
  pause(options: WriteOptions, ms?: number): Promise<void>
  /** True if another connection's lock was met recently. */
  isContended(): boolean
  /** Closes the file. What waits for the disk still gets its answer. */
  close(): void
}

const CONTENTION_MS = 100
// How long to wait for readers of the WAL after a commit has failed on the disk.
const SETTLE_MS = 1000

const jitter = (): number => 1 + Math.random() * 2

export interface ConnectionOptions {
  /** For a connection whose commits do not wait for the disk. Without it `durable` has nothing to wait for. */
  readonly sync?: WalSync | undefined
  /** True while another thread of this process has the lock for a moment, and needs it no more after that. */
  readonly isLockedHere?: (() => boolean) | undefined
}

export function createConnection(
  database: SqliteDatabase,
  driver = loadDriver(),
  { sync, isLockedHere = () => false }: ConnectionOptions = {},
): Connection {
  const statement = createStatementCache(database)
  const file = watchFile(database.name)
  const transactions = createTransactions(database, statement, file)
  const { tryWrite, snapshot, settle, isUnsettled } = transactions
  const { attempt, pause, isContended } = createRetries(database, isLockedHere)
  const retry: Connection['retry'] = async (act, options) => attempt(act, options)
  const durability = createDurability({ database, sync, transactions, retry })

  const commit: Connection['commit'] = async (act, options) => {
    await durability.ready(options)
    try {
      return await retry(() => tryWrite(act), options)
    } catch (error) {
      if (!isUnsettled((error as Error).cause)) throw error
      try {
        // Has its own deadline, as the disk may have used up the time of the call.
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
    driver,
    statement,
    retry,
    attempt,
    commit,
    durable: durability.durable,
    async write(act, options) {
      const result = await commit(act, options)
      await durability.durable(options)
      return result
    },
    durableReads: durability.durableReads,
    tryWrite,
    checkFile: () => file.check(),
    snapshot,
    pause,
    isContended,
    close() {
      sync?.close()
      if (database.open) database.close()
    },
  }
}

/** Single attempts at transactions. They throw the errors of the driver, `SQLITE_BUSY` among them. */
interface Transactions extends Commits, Pick<Connection, 'tryWrite' | 'snapshot'> {
  /** True if the error is the failure of a commit on the disk that is not settled yet. */
  readonly isUnsettled: (error: unknown) => boolean
}

// How often to check the place of the file before a commit; after each commit it is confirmed anyway.
const CHECK_MS = 5

function createTransactions(
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

/** Repeats what fails because another connection holds the lock. */
function createRetries(
  database: SqliteDatabase,
  isLockedHere: () => boolean,
): Pick<Connection, 'attempt' | 'pause' | 'isContended'> {
  let lastBusy = -Infinity

  /** Throws after the deadline, an abort or `close`; `cause` is the lock error of the last attempt. */
  const check = ({ signal, deadline = Infinity }: WriteOptions, cause: unknown): void => {
    if (cause === undefined) throwIfAborted(signal)
    if (signal?.aborted || performance.now() >= deadline)
      throw new AuditLogError('ABORTED', 'the operation was aborted', { cause })
    if (!database.open) throw new AuditLogError('CLOSED', 'the SQLite store is closed')
  }

  const pause = async ({ signal }: WriteOptions, ms = jitter()): Promise<void> => {
    // The caller checks the signal next.
    await delay(ms, undefined, signal && { signal }).catch(() => {})
  }

  /** Returns the error if another connection holds the lock. */
  const noteLock = (error: unknown): unknown => {
    if (!isBusy(error)) throw storeFailure(error)
    if (!isLockedHere()) lastBusy = performance.now()
    return error
  }

  const repeat = async <Result>(
    act: () => Result,
    options: WriteOptions,
    locked: unknown,
  ): Promise<Result> => {
    let lock = locked
    for (;;) {
      await pause(options)
      check(options, lock)
      try {
        return act()
      } catch (error) {
        lock = noteLock(error)
      }
    }
  }

  const attempt = <Result>(act: () => Result, options: WriteOptions): Result | Promise<Result> => {
    check(options, undefined)
    try {
      return act()
    } catch (error) {
      return repeat(act, options, noteLock(error))
    }
  }

  return {
    attempt,
    pause,
    isContended: () => performance.now() - lastBusy < CONTENTION_MS,
  }
}

function createStatementCache(database: SqliteDatabase): (text: string) => SqliteStatement {
  const statements = new LRUCache<string, SqliteStatement>({ max: 100 })
  return (text) => {
    let prepared = statements.get(text)
    if (!prepared) {
      prepared = database.prepare(text)
      statements.set(text, prepared)
    }
    return prepared
  }
}

const LOST_TABLE = /^no such table: (?:main\.)?daybook_/

/** Wraps an error of the driver as `STORE_FAILED`; returns an `AuditLogError` unchanged. */
export function storeFailure(error: unknown): AuditLogError {
  if (error instanceof AuditLogError) return error
  const reason = error instanceof Error ? error.message : String(error)
  const message = isCorrupt(error)
    ? `the SQLite file is damaged: ${reason}`
    : `the SQLite store failed: ${reason}${LOST_TABLE.test(reason) ? `; ${LOST_TABLES}` : ''}`
  return new AuditLogError('STORE_FAILED', message, { cause: error })
}
