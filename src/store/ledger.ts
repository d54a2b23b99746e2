import type { AuditEvent } from '../event/event.js'
import type { Microseconds } from '../event/timestamp.js'
import type { WaitOptions } from './wait-options.js'

/* The ledger of a log: the leaves and nodes of a Merkle tree over its events. See docs/guide/ledger.md. */

/** Number of leaves that a store keeps in one row. */
export const LEAVES_PER_ROW = 256

/** Level of the node over a complete row. Stores keep the nodes of this level and above. */
export const ROW_LEVEL = 8

/** Maximum number of leaves of one `append`. */
export const MAX_LEAVES = 8192

/** The progress of a ledger. */
export interface LedgerState {
  /** Number of leaves. */
  readonly size: number
  /** Time up to which the events are sealed in their order. */
  readonly sealedTo: Microseconds
  /** Id of the last late event that was processed, 0 before the first. */
  readonly lateTo: number
  /** The last signed head as the text of a note; `undefined` before the first. */
  readonly head: string | undefined
  /** Signature of the process that has appended the last statements: see src/ledger/voucher.ts. `undefined` before the first. */
  readonly voucher: string | undefined
  /** Random text. Each change of leaves or of the head has another one, also after a backup was restored. */
  readonly revision: string
}

/** Up to {@link LEAVES_PER_ROW} leaves that follow each other. */
export interface LeafRow {
  /** The first leaf of the row has the index `LEAVES_PER_ROW * row`. */
  readonly row: number
  /** Time up to which the leaves before this row seal events in order. */
  readonly after: Microseconds
  /** Time up to which the leaves of this row and before seal events in order. */
  readonly last: Microseconds
  /** Kinds and times of the leaves: see src/ledger/places.ts. */
  readonly places: Uint8Array
  /** The hashes of the leaves, 32 bytes each. */
  readonly hashes: Uint8Array
  /** The seed of the salts of these leaves, or the salts of those that were not removed: see src/ledger/leaf.ts. */
  readonly seed: Uint8Array
}

export interface NodePlace {
  readonly level: number
  readonly index: number
}

/** A complete node of {@link ROW_LEVEL} or above, or a lower one by which heads that were given out are compared. */
export interface LedgerNode extends NodePlace {
  readonly hash: Uint8Array
}

/** A leaf that is no event. */
export interface LedgerStatement {
  readonly leaf: number
  /** The entry that the leaf hashes. */
  readonly entry: string
}

/** An event that became visible behind `sealedTo`. */
export interface LateEvent {
  /** Increases in the order of visibility. */
  readonly id: number
  readonly time: Microseconds
}

/** Everything that one `append` writes. */
export interface LedgerAddition {
  /** The state that the caller has read. */
  readonly before: LedgerState
  readonly after: LedgerState
  /** New rows, and the last row before if it was incomplete, as it is now. */
  readonly rows: readonly LeafRow[]
  readonly nodes: readonly LedgerNode[]
  readonly statements: readonly LedgerStatement[]
  /** The leaves of late events. */
  readonly late: readonly { readonly id: number; readonly leaf: number }[]
  /** The leaves of events that stood before the ledger began. The list of late events gets them. @default none */
  readonly adopted?: readonly { readonly time: Microseconds; readonly leaf: number }[] | undefined
}

/** Events to remove, and the rows of their leaves as they are then. */
export interface LedgerRemoval {
  /** The state that the caller has read. */
  readonly before: LedgerState
  /** The same with another revision. */
  readonly after: LedgerState
  readonly times: readonly Microseconds[]
  /** Rows that replace those with the same numbers. */
  readonly rows: readonly LeafRow[]
  /** Numbers of the rows to remove. */
  readonly dropped: readonly number[]
}

/** The next events to seal, to be hashed where they are read. */
export interface UnsealedRequest {
  /** Events after this time. */
  readonly after: Microseconds
  /** Index of the leaf of the first event. */
  readonly leaf: number
  /** Seeds of the rows from the row of `leaf` on, enough for `limit` leaves. */
  readonly seeds: readonly Uint8Array[]
  /** Maximum number of events, up to {@link MAX_LEAVES}. */
  readonly limit: number
}

/** A live event that is open. */
export interface OpenPlace {
  readonly id: string
  readonly time: Microseconds
}

export interface Beginning {
  readonly state: LedgerState
  readonly open: readonly OpenPlace[]
}

export interface UnsealedEvents {
  /** The times of the events, in order. */
  readonly times: readonly Microseconds[]
  /** The hashes of their leaves, 32 bytes each. */
  readonly hashes: Uint8Array
  /** The live events that are open and have times after `after` and before the last of `times`. */
  readonly open: readonly OpenPlace[]
}

export interface SealedEvent {
  readonly time: Microseconds
  /** Has the JSON text of its attributes as it is stored; `undefined` if it cannot be read. */
  readonly event: AuditEvent | undefined
}

/** The times of events, both included. */
export interface EventTimes {
  readonly from: Microseconds
  readonly to: Microseconds
  readonly limit: number
}

export interface Waiting {
  /** Number of events that are visible and not sealed, late ones included. Stops counting at 10,000. */
  readonly events: number
  /** Time of the oldest of them in order. */
  readonly oldest: Microseconds | undefined
}

/**
 * The part of a store that keeps a ledger. It checks no hash and no signature: a ledger proves itself, and who can
 * write to the database can write anything here. Methods reject as those of `EventStore` do. Without a ledger,
 * `state` resolves to `undefined`, and the other methods reject with `NO_LEDGER`.
 */
export interface LedgerStore {
  /**
   * Begins the ledger after this time, or after the newest event if that is earlier, unless there is a ledger. From now on the store lists late events, and refuses
   * to remove events with `SIGNER_REQUIRED`, except by `remove` of the ledger. Resolves to the state, and the live events that were open at that moment. A log without a ledger has none of its tables. Rejects with `INVALID_OPTION` if the store drops events by itself, and with `SCHEMA_MISMATCH` if it
   * may not create the tables.
   */
  begin(after: Microseconds, options?: WaitOptions): Promise<Beginning>
  state(options?: WaitOptions): Promise<LedgerState | undefined>
  /**
   * Reads the next events in order, and returns their times and leaf hashes. The events are durable. Every event
   * that becomes visible later has a later time than the last of them, or is late.
   */
  unsealed(request: UnsealedRequest, options?: WaitOptions): Promise<UnsealedEvents>
  /**
   * The next late events after an id: events that were imported or closed after the ledger began. A late event may
   * also be sealed in order, if `sealedTo` has not passed it. They are durable.
   */
  late(after: number, limit: number, options?: WaitOptions): Promise<readonly LateEvent[]>
  /**
   * Writes everything in one transaction, if the state is still `before`; otherwise writes nothing and resolves to false. Resolves once
   * it is durable. `after.head` replaces the head. If `after.size` is smaller, first removes the rows, statements and leaves of late
   * events from there on.
   */
  append(addition: LedgerAddition, options?: WaitOptions): Promise<boolean>
  /**
   * Removes events, their times in the list of late events, and rows in one transaction, if the state is still `before`. Resolves to the number of removed
   * events; otherwise removes nothing and resolves to `undefined`. Open live events stay.
   */
  remove(removal: LedgerRemoval, options?: WaitOptions): Promise<number | undefined>
  /**
   * Frees what the removal of all events of a period before this time has left, such as an empty partition. Events that are stored meanwhile
   * stay. Only the process that seals calls it.
   */
  release(before: Microseconds, options?: WaitOptions): Promise<void>
  /**
   * Removes the ledger if its state is still `before`, and begins another one as `begin` does, in one transaction; otherwise resolves to
   * `undefined`. Events stay.
   */
  restart(
    before: LedgerState,
    after: Microseconds,
    options?: WaitOptions,
  ): Promise<Beginning | undefined>
  /** The rows from `from` on, up to `limit`. Rows that were removed are left out. */
  rows(from: number, limit: number, options?: WaitOptions): Promise<readonly LeafRow[]>
  /** The hashes of nodes in the order of the places; `undefined` for one that is not kept. */
  nodes(
    places: readonly NodePlace[],
    options?: WaitOptions,
  ): Promise<readonly (Uint8Array | undefined)[]>
  /** The statements from leaf `from` on and before leaf `to`. */
  statements(from: number, to: number, options?: WaitOptions): Promise<readonly LedgerStatement[]>
  /** The leaf of the event at each of these times; `undefined` for one without a leaf. */
  leavesOf(
    times: readonly Microseconds[],
    options?: WaitOptions,
  ): Promise<readonly (number | undefined)[]>
  /** The events within these times, without open live events, oldest first, up to `limit`. */
  events(times: EventTimes, options?: WaitOptions): Promise<readonly SealedEvent[]>
  /** The events at these times, without open live events, in no certain order. */
  eventsAt(times: readonly Microseconds[], options?: WaitOptions): Promise<readonly SealedEvent[]>
  waiting(options?: WaitOptions): Promise<Waiting>
}
