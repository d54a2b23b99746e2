import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { AuditLogError, throwIfAborted } from '../../../src/errors.js'
import type { AppendOptions } from '../../../src/store/store.js'
import { isBusy, type SqliteDatabase, type SqliteStatement } from './database.js'

/** A connection of our own, on which waiting for other connections' locks keeps the event loop free. */
export interface Connection {
  readonly database: SqliteDatabase
  /** The statement for this text, prepared once. */
  readonly statement: (text: string) => SqliteStatement
  /**
   * Runs `act` until it meets no lock; it must do nothing where it meets one. Rejects with `CLOSED`,
   * with `STORE_FAILED` for other errors of the driver's, and with `ABORTED`, the lock in `cause`,
   * when the signal aborts or the deadline comes first.
   */
  retry<Result>(act: () => Result, options: AppendOptions): Promise<Result>
  /** As `retry`, with `act` in one write transaction. */
  write<Result>(act: () => Result, options: AppendOptions): Promise<Result>
  /** One attempt at a write transaction; throws the driver's errors. */
  tryWrite<Result>(act: () => Result): Result
  /** Runs `act` on one moment's state of the file. */
  snapshot<Result>(act: () => Result): Result
  /** Resolves after a moment that leaves others a gap between two transactions of ours. */
  pause(options: AppendOptions, ms?: number): Promise<void>
  /** True while other connections have held a lock lately. */
  isContended(): boolean
}

const CONTENTION_MS = 100

const jitter = (): number => 1 + Math.random() * 2

export function createConnection(database: SqliteDatabase): Connection {
  const statements = new LRUCache<string, SqliteStatement>({ max: 100 })
  let lastBusy = -Infinity

  const statement = (text: string): SqliteStatement => {
    let prepared = statements.get(text)
    if (!prepared) {
      prepared = database.prepare(text)
      statements.set(text, prepared)
    }
    return prepared
  }

  const tryWrite = <Result>(act: () => Result): Result => {
    statement('BEGIN IMMEDIATE').run()
    try {
      const result = act()
      statement('COMMIT').run()
      return result
    } catch (error) {
      if (database.inTransaction) statement('ROLLBACK').run()
      throw error
    }
  }

  const snapshot = <Result>(act: () => Result): Result => {
    statement('BEGIN').run()
    try {
      return act()
    } finally {
      if (database.inTransaction) statement('COMMIT').run()
    }
  }

  /** Throws where there is no more time; `cause` is why it took so long. */
  const check = ({ signal, deadline = Infinity }: AppendOptions, cause: unknown): void => {
    if (cause === undefined) throwIfAborted(signal)
    if (signal?.aborted || performance.now() >= deadline)
      throw new AuditLogError('ABORTED', 'the operation was aborted', { cause })
    if (!database.open) throw new AuditLogError('CLOSED', 'the SQLite store is closed')
  }

  const gap = async ({ signal }: AppendOptions, ms = jitter()): Promise<void> => {
    // Who is aborted is told by what follows.
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

  return {
    database,
    statement,
    retry,
    write: (act, options) => retry(() => tryWrite(act), options),
    tryWrite,
    snapshot,
    pause: gap,
    isContended: () => performance.now() - lastBusy < CONTENTION_MS,
  }
}

/** `STORE_FAILED` with the driver's error as cause; an error of ours stays as it is. */
export function storeFailure(error: unknown): AuditLogError {
  if (error instanceof AuditLogError) return error
  const reason = error instanceof Error ? error.message : String(error)
  return new AuditLogError('STORE_FAILED', `the SQLite store failed: ${reason}`, { cause: error })
}
