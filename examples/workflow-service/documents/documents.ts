import type { Kind, Kinds } from '../model.js'

export interface Transaction {
  put<K extends Kind>(kind: K, document: Kinds[K]): void
  remove(kind: Kind, id: string): void
}

export interface Patience {
  /** How long to try while the database cannot be written to. @default 5000 */
  readonly patienceMs?: number
  /** Called once, at the first attempt that finds it so. */
  readonly onBusy?: (error: unknown) => Promise<void>
}

/** The database is locked or away for the moment; nothing was done. */
export class DatabaseBusy extends Error {}

/** The service's own data: read from memory, written through to a database. */
export interface Documents {
  /** Names this process, to all that work on the same data, as the owner of what it does. */
  readonly processId: string
  all<K extends Kind>(kind: K): readonly Kinds[K][]
  get<K extends Kind>(kind: K, id: string): Kinds[K] | undefined
  /** Once it resolves, what any process had written when it was called can be read. */
  refresh(): Promise<void>
  /**
   * Runs `act` in one transaction: what it puts is kept as a whole, or not at all where it throws.
   * It sees the data as it was before, and no other write comes between.
   */
  write<Result>(act: (tx: Transaction) => Result, patience?: Patience): Promise<Result>
  /** Calls the listener for what another process put or removed, once that can be read here. */
  watch(listener: (kind: Kind, id: string) => void): void
  /** Those of the processes that have ended. */
  ended(processIds: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Keeps everyone from writing for a while, as a fault would. Resolves once nobody can; aborted, it
   * ends early. Undefined where nothing comes between this process and its data.
   */
  readonly lock: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined
  close(): Promise<void>
}
