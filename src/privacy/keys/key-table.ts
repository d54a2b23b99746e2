import type { KeyErasure } from '../subject-keys.js'

/** A stored key of a subject. All members are text. */
export interface KeyRow {
  readonly ref: string
  /** HMAC of the kind and the id of the subject, as base64url; null for a subject that is not known. Unique. */
  readonly mac: string | null
  /** The id of the store key that wraps the key. */
  readonly wrapper: string
  readonly wrapped: string
  /** RFC 3339, UTC. */
  readonly created_at: string
}

/** A store key. It wraps keys of subjects, and is itself wrapped. */
export interface StoreKeyRow {
  readonly id: string
  readonly wrapped: string
}

/**
 * The one row that says how keys are wrapped: the master key wraps the store key, which wraps the keys of subjects, the
 * secret of the HMACs, and former store keys.
 */
export interface KeyRing extends StoreKeyRow {
  /** Rises by one with each change; the first one is 1. */
  readonly version: number
  /** The id of the master key. */
  readonly master: string
  readonly secret: string
  readonly created_at: string
  /** When the last `rotate` that has ended began, or null. */
  readonly rotated_at: string | null
  /** Store keys that still wrap keys, because `rotate` has not ended. */
  readonly formers: readonly StoreKeyRow[]
}

/** An erasure that begins. */
export interface ErasureChange {
  readonly wrapper: string
  readonly mac: string
  readonly erasure: Pick<KeyErasure, 'erased_at' | 'reason' | 'username'>
}

/** Keys that another store key wraps from now on. */
export interface Rewrapping {
  readonly former: string
  readonly wrapper: string
  readonly rows: readonly Pick<KeyRow, 'ref' | 'wrapped'>[]
}

/**
 * Tables of keys, of erasures and of the ring, which a store keeps. Each method is one transaction, which is durable when its promise
 * resolves. Rejects with `ABORTED` if the signal aborts first. It may reject with any other error.
 */
export interface KeyTable {
  readonly name: string
  ring(signal?: AbortSignal): Promise<KeyRing | undefined>
  /** True if there are neither keys nor erasures. */
  isEmpty(signal?: AbortSignal): Promise<boolean>
  /** Stores the ring if the stored one has the version before; returns whether it has. No former content is left in files of the store. */
  replaceRing(next: KeyRing, signal?: AbortSignal): Promise<boolean>
  byMac(macs: readonly string[], signal?: AbortSignal): Promise<readonly KeyRow[]>
  byRef(
    refs: readonly string[],
    signal?: AbortSignal,
  ): Promise<{
    readonly keys: readonly KeyRow[]
    readonly erasures: readonly KeyErasure[]
  }>
  /**
   * Stores keys, except those whose `mac` has one already, and returns the stored ones. `undefined` if `wrapper`, the store key of
   * all rows, is no longer that of the ring; nothing is stored then.
   */
  insert(
    wrapper: string,
    rows: readonly KeyRow[],
    signal?: AbortSignal,
  ): Promise<readonly KeyRow[] | undefined>
  /** The ref of the key with this `mac`, else of its newest pending erasure. */
  find(mac: string, signal?: AbortSignal): Promise<string | undefined>
  /**
   * Deletes the key with this `mac` and stores a pending erasure. Without such a key: the oldest pending erasure with this `mac`, or
   * null. No trace of the key is left in files of the store. `undefined` if `wrapper` is no longer the store key of the ring.
   */
  erase(change: ErasureChange, signal?: AbortSignal): Promise<KeyErasure | null | undefined>
  /** Stores the number of events, and deletes the `mac` of the erasure, if it is pending. */
  endErasure(ref: string, events: number, signal?: AbortSignal): Promise<void>
  /** All erasures in the order in which they began. */
  erasures(signal?: AbortSignal): Promise<readonly KeyErasure[]>
  /** Up to `limit` keys that this store key wraps. */
  wrappedBy(wrapper: string, limit: number, signal?: AbortSignal): Promise<readonly KeyRow[]>
  /**
   * Replaces `wrapper` and `wrapped` of these keys if the store key `former` still wraps them; returns their number. `undefined` if
   * `wrapper` is no longer the store key of the ring.
   */
  rewrap(change: Rewrapping, signal?: AbortSignal): Promise<number | undefined>
  close(): Promise<void>
}
