import type { AuditLog } from '../../audit-log.js'
import type { EventStore } from '../../store/store.js'
import type { Clock } from '../../event/timestamp.js'
import type { ManualClock } from './manual-clock.js'

/** An open transaction of a host's on the database that the store keeps its events in. */
export interface HostTransaction {
  /** What a host gives to `record` as `transaction`. */
  readonly handle: object
  readonly commit: () => Promise<void>
  readonly rollback: () => Promise<void>
}

/** Methods whose effect cannot be told from a lost answer, and which bring it about only once. */
export type LosingMethod = 'append' | 'reportSuppressed' | 'changeLive' | 'closeLive'

/** What a store is able to beyond the rest; each enables the cases that need it. */
export interface StoreAbilities {
  /** Opens a further store on the same events, as another process would. */
  readonly reopen?: () => Promise<EventStore>
  /** Begins a transaction of a host's, for a store with `enlist`. One at a time is open. */
  readonly transaction?: () => Promise<HostTransaction>
  /**
   * Keeps the store from writing, as a server that is away or another's lock would, until the
   * function that it gives is called. The store is one that tries again.
   */
  readonly interrupt?: () => Promise<() => Promise<void>>
  /**
   * Has the next call of this method of `store` take effect without the store hearing of it, as
   * where the connection breaks in the moment of the commit; after that all is as before.
   */
  readonly loseAcknowledgement?: (method: LosingMethod) => Promise<void>
}

export type Ability = keyof StoreAbilities

/** A store made for one case, empty, on the clock it was asked for. */
export interface StoreUnderTest extends StoreAbilities {
  readonly store: EventStore
  /** Removes what the store left behind; called once the case has closed it. */
  readonly dispose?: () => Promise<void>
}

export type CreateStore = (options: { clock: Clock }) => Promise<StoreUnderTest> | StoreUnderTest

/** What every case is given. Whatever it leaves open is closed after it. */
export interface Context {
  readonly store: EventStore
  /** A log without a registry on the store. */
  readonly audit: AuditLog
  readonly clock: ManualClock
}

/** What a case is given beside, where it needs it. */
export interface Abilities {
  /** A log on a further store on the same events. */
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
  table: Readonly<Record<string, (context: Context & Pick<Abilities, Needed>) => Promise<void>>>,
  ...needs: readonly Needed[]
): Case[] {
  return Object.entries(table).map(([name, body]) => ({ name, needs, body }))
}
