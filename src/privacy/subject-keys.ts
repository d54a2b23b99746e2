import type { KeyObject } from 'node:crypto'
import type { WaitOptions } from '../store/store.js'

/** A person that events are about. */
export interface Subject {
  readonly kind: string
  /** Identifies the person among those of the kind. `undefined`: unknown, so each call makes a key of its own. */
  readonly id: string | undefined
}

/** The key of a subject. */
export interface SubjectKey {
  /** A random text of 22 characters that stands for the subject in events. */
  readonly ref: string
  /** 32 bytes. */
  readonly key: Uint8Array
}

/** A key that was destroyed. */
export interface ErasedKey {
  readonly ref: string
  /** RFC 3339, UTC. */
  readonly erased_at: string
}

/** Reason and user of an erasure. */
export interface ErasureRequest {
  readonly reason: string
  readonly username: string
}

/** An erasure of a subject as the key store keeps it. */
export interface KeyErasure extends ErasedKey, ErasureRequest {
  /** Number of events that had data of the subject; null while the erasure is pending. */
  readonly events: number | null
  /** False while its event is not recorded. */
  readonly isEnded: boolean
}

/** The master key wraps the keys of subjects: 32 bytes of AES, or functions of a key management service. */
export type MasterKey =
  | KeyObject
  | {
      /** Identifies the master key, so that `rotate` knows which keys another one has wrapped. */
      readonly id: string
      wrap(key: Uint8Array): Promise<Uint8Array>
      unwrap(wrapped: Uint8Array): Promise<Uint8Array>
    }

/**
 * The keys of subjects: `memorySubjectKeys`, `sqliteSubjectKeys` or `postgresSubjectKeys`. They stand apart from the log and its
 * backups. All methods reject with `KEYS_UNAVAILABLE` if the keys cannot be had, `ABORTED` and `CLOSED`. No key is used that was
 * read more than 30 s ago, so that an erasure in one process reaches all others within 30 s.
 */
export interface SubjectKeys {
  /** The name of the store in messages, such as `sqlite`. */
  readonly name: string
  /** The keys of the subjects, in the same order; missing ones are made, and are durable when this resolves. One look-up for all of them. */
  obtain(subjects: readonly Subject[], options?: WaitOptions): Promise<readonly SubjectKey[]>
  /** The key of a known subject, if it was read less than 30 s ago. */
  cached(subject: Subject): SubjectKey | undefined
  /** The keys with these refs, or when they were destroyed. A ref that the store does not know is missing. One look-up for all of them. */
  read(
    refs: readonly string[],
    options?: WaitOptions,
  ): Promise<ReadonlyMap<string, SubjectKey | ErasedKey>>
  /** The ref of the subject's key, without making one. Also that of a pending erasure. */
  find(subject: Subject, options?: WaitOptions): Promise<string | undefined>
  /**
   * HMAC-SHA-256 of the text with a secret of the key store, as base64url. Equal in all processes on the store, also after `rotate`.
   */
  fingerprint(text: string, options?: WaitOptions): Promise<string>
  /**
   * Destroys the key of the subject and keeps a pending erasure, in one transaction. If the subject has no key, returns its oldest pending
   * erasure, or `undefined`. A key that was made while an erasure was pending has an erasure of its own.
   */
  beginErasure(
    subject: Subject,
    request: ErasureRequest,
    options?: WaitOptions,
  ): Promise<KeyErasure | undefined>
  /** Ends a pending erasure: forgets which subject the ref was of. Later events of the subject get a new ref. Idempotent. */
  endErasure(ref: string, ended: { readonly events: number }, options?: WaitOptions): Promise<void>
  /** All erasures, oldest first. */
  erasures(options?: WaitOptions): Promise<readonly KeyErasure[]>
  /**
   * Wraps all keys with another master key, and returns their number. Once the former master key is destroyed, backups of the keys made before are unreadable.
   * Can be repeated after a failure. Later calls of this process use the new master key.
   */
  rotate(next: MasterKey, options?: WaitOptions): Promise<number>
  /** The time of the last `rotate`, RFC 3339. */
  rotatedAt(options?: WaitOptions): Promise<string | undefined>
  /** Forgets all keys in memory and closes the store. Idempotent. */
  close(): Promise<void>
}
