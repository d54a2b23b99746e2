import type { Kind, Kinds } from '../model.js'

export interface Transaction {
  put<K extends Kind>(kind: K, document: Kinds[K]): void
  remove(kind: Kind, id: string): void
}

export interface RetryOptions {
  /** How long to retry while the database is busy. @default 5000 */
  readonly timeoutMs?: number
  /** Called at the first attempt that fails. */
  readonly onBusy?: (error: unknown) => Promise<void>
}

/** The database is locked or unavailable; nothing was written. */
export class DatabaseBusy extends Error {}

/** The service's own data: read from memory, written through to a database. */
export interface Documents {
  /** The unique id of this process, which is the owner of its work. */
  readonly processId: string
  all<K extends Kind>(kind: K): readonly Kinds[K][]
  get<K extends Kind>(kind: K, id: string): Kinds[K] | undefined
  /** Resolves when everything that any process wrote before the call can be read here. */
  refresh(): Promise<void>
  /**
   * Runs `act` in one transaction, which is rolled back if `act` throws. `act` reads the data as it
   * was before the transaction, and no other write runs at the same time.
   */
  write<Result>(act: (tx: Transaction) => Result, retry?: RetryOptions): Promise<Result>
  /** Calls the listener for each document that another process put or removed, once it can be read here. */
  watch(listener: (kind: Kind, id: string) => void): void
  /** Returns those of the processes that have ended. */
  ended(processIds: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Blocks all writes for some time, to simulate a fault. Resolves when writes are blocked; aborting
   * the signal unblocks them early. Undefined for a database in memory.
   */
  readonly lock: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined
  close(): Promise<void>
}
