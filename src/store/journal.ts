import type { EventDraft } from '../event/event.js'
import type { Microseconds } from '../event/timestamp.js'

/** A draft that waits on this machine until its store is available. */
export interface JournalEntry {
  readonly draft: EventDraft
  /** The time of the call of `record`. */
  readonly recordedAt: Microseconds
  /**
   * Set if an attempt to append the draft may have succeeded: the event is later than this time. See
   * `AppendOptions.since`.
   */
  readonly since: Microseconds | undefined
}

/**
 * A durable first-in, first-out queue of drafts for events with the failure policy `queue`. All
 * methods are synchronous and throw `STORE_FAILED` if the journal's own file fails.
 */
export interface EventJournal {
  /** The number of waiting drafts. */
  readonly length: number
  /** Stores all entries durably, or none: `QUEUE_FULL` if they do not fit. */
  add(entries: readonly JournalEntry[]): void
  /** The oldest entries, at most `count`. */
  first(count: number): readonly JournalEntry[]
  /** Marks the oldest `count` entries, durably, as about to be appended. */
  try(count: number, since: Microseconds): void
  /** Removes the oldest `count` entries. */
  remove(count: number): void
  /** Safe to call twice. The waiting entries are there when the journal is opened again. */
  close(): void
}
