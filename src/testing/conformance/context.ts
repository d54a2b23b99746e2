import type { AuditLog } from '../../audit-log.js'
import type { EventStore } from '../../store/store.js'
import type { Clock } from '../../event/timestamp.js'
import type { ManualClock } from './manual-clock.js'
import type { OptionNames } from '../../options.js'

/** An open transaction of the host on the database that holds the events. */
export interface HostTransaction {
  /** The value that a host passes to `record` as `transaction`. */
  readonly handle: object
  readonly commit: () => Promise<void>
  readonly rollback: () => Promise<void>
}

/** Methods that take effect only once, even if the caller repeats them after a lost acknowledgement. */
export type LosingMethod = 'append' | 'reportSuppressed' | 'changeLive' | 'closeLive'

/** Optional abilities of a store under test. Each enables the cases that need it. */
export interface StoreAbilities {
  /** Opens another store on the same events, as another process would. */
  readonly reopen?: () => Promise<EventStore>
  /** Begins a transaction of the host, for a store with `enlist`. Only one is open at a time. */
  readonly transaction?: () => Promise<HostTransaction>
  /**
   * Prevents the store from writing until the returned function is called, like an unreachable server or the lock of
   * another connection. For stores that retry.
   */
  readonly interrupt?: () => Promise<() => Promise<void>>
  /**
   * Lets the next call of this method of `store` take effect, but loses its acknowledgement, as if the connection
   * broke during the commit. Later calls are not affected.
   */
  readonly loseAcknowledgement?: (method: LosingMethod) => Promise<void>
}

/** `ledger`: the store keeps a ledger. `scrub`: it has that method. */
export type Ability = keyof StoreAbilities | 'ledger' | 'scrub'

/** An empty store for one case, on the given clock. */
export interface StoreUnderTest extends StoreAbilities {
  readonly store: EventStore
  /** Removes the files or tables of the store. Called after the store is closed. */
  readonly dispose?: () => Promise<void>
}

export const STORE_UNDER_TEST: OptionNames<StoreUnderTest> = {
  store: true,
  reopen: true,
  transaction: true,
  interrupt: true,
  loseAcknowledgement: true,
  dispose: true,
}

export type CreateStore = (options: { clock: Clock }) => Promise<StoreUnderTest> | StoreUnderTest

/** Context of every case. Everything that a case leaves open is closed afterwards. */
export interface Context {
  readonly store: EventStore
  /** A log on the store, without declared event types. */
  readonly audit: AuditLog
  readonly clock: ManualClock
}

/** Parts of the context that a case receives if it asks for the ability. */
export interface Abilities {
  /** Opens a log on another store with the same events. */
  readonly reopen: () => Promise<AuditLog>
  readonly transaction: () => Promise<HostTransaction>
  readonly interrupt: () => Promise<() => Promise<void>>
  readonly loseAcknowledgement: (method: LosingMethod) => Promise<void>
}

export interface Case {
  readonly name: string
  readonly needs: readonly Ability[]
  readonly body: (context: Context & Abilities) => Promise<void>
}

/** Cases by name, `<method>: <rule>`, and the abilities that all of them need. */
export function cases<Needed extends Ability = never>(
  table: Readonly<
    Record<string, (context: Context & Pick<Abilities, Needed & keyof Abilities>) => Promise<void>>
  >,
  ...needs: readonly Needed[]
): Case[] {
  return Object.entries(table).map(([name, body]) => ({ name, needs, body }))
}
