import type { EventDraft } from '../event/event.js'
import type { Microseconds } from '../event/timestamp.js'

/** A draft that waits on this machine for its store. */
export interface JournalEntry {
  readonly draft: EventDraft
  /** When its call was made. */
  readonly recordedAt: Microseconds
  /**
   * Set where an attempt to append it may have succeeded: what that kept is later than this. See
   * `AppendOptions.since`.
   */
  readonly since: Microseconds | undefined
}

/**
 * A durable queue of drafts, first in, first out, for events whose failure policy is `queue`. All
 * methods are synchronous, and throw `STORE_FAILED` where the journal's own file fails.
 */
export interface EventJournal {
  /** How many drafts wait. */
  readonly length: number
  /** Keeps all of them, durably, or none: `QUEUE_FULL` where there is no room for them. */
  add(entries: readonly JournalEntry[]): void
  /** The oldest, at most so many. */
  first(count: number): readonly JournalEntry[]
  /** Notes, durably, that the oldest so many are about to be appended. */
  try(count: number, since: Microseconds): void
  /** Removes the oldest so many. */
  remove(count: number): void
  /** Safe to call twice. What waits is there when it is opened again. */
  close(): void
}
