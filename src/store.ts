import type { AuditEvent, EventDraft, ImportedEvent } from './event.js'
import type { EventQuery } from './filter/ast.js'
import type { Microseconds } from './timestamp.js'

/** Every waiting call can be given up. */
export interface WaitOptions {
  readonly signal?: AbortSignal | undefined
}

export interface AppendOptions extends WaitOptions {
  /**
   * When the caller gives up, on the scale of `performance.now()`: what is not kept by then must not
   * be kept later.
   */
  readonly deadline?: number | undefined
}

export interface EventPage {
  /** Without sorts the newest, oldest first; with sorts the first of that order. */
  readonly events: readonly AuditEvent[]
  /** True when more events matched than the limit let through. */
  readonly truncated: boolean
}

export interface ImportResult {
  readonly imported: number
  /** Events that were there already, with the same id and content. */
  readonly skipped: number
}

/**
 * A place that keeps events. The core hands it clean input only: whole drafts, parsed queries with
 * a limit. Methods reject with `AuditLogError`: `CLOSED` after `close`, `ABORTED` when the signal
 * aborts first, `STORE_FAILED` (the driver's error in `cause`) when the store fails.
 *
 * `created_at` is assigned by the store when an event becomes visible, unique and strictly
 * increasing in that order for all processes on one store, even when its clock steps back or its
 * newest events are removed. Who has seen an event never later finds an older one new to him.
 */
export interface EventStore {
  /** Shown in errors and test titles, such as `sqlite`. */
  readonly name: string
  /** Most drafts that one `append` should be given. */
  readonly maxBatch: number
  /**
   * Keeps all of the drafts, in their order, or none; resolves once they are durable. Rejects only
   * when none is kept. Given drafts again whose first attempt may have succeeded, it finds them by
   * their tails and keeps none twice. A store that can be away for a while tries again until the
   * signal aborts.
   */
  append(drafts: readonly EventDraft[], options?: AppendOptions): Promise<readonly AuditEvent[]>
  /**
   * Makes the draft part of a transaction that the caller has open on the same database, through an
   * outbox table: once that transaction has committed the event becomes visible with the next
   * append by anyone, of very many with the next ones, or within about a second; if it is rolled back there is no event. Resolves
   * when the draft is in the outbox. Where the event becomes visible more than a second after
   * `enlist`, and names no `occurred_at`, the time of this call is added as that attribute.
   * `INVALID_OPTION` where `transaction` is no open handle on this database. Stores without this
   * method have no transactions to take part in.
   */
  enlist?(draft: EventDraft, transaction: object, options?: WaitOptions): Promise<void>
  /**
   * Keeps events with their own id and time, all or none. One that is there with the same content
   * is skipped; a time later than now, an id or a time that another event has: `IMPORT_CONFLICT`.
   */
  importEvents(events: readonly ImportedEvent[], options?: WaitOptions): Promise<ImportResult>
  /** The event with this id, or `undefined`. */
  get(id: string, options?: WaitOptions): Promise<AuditEvent | undefined>
  /** The matching events: see {@link EventQuery}. */
  list(query: EventQuery, options?: WaitOptions): Promise<EventPage>
  /**
   * Removes the events whose `created_at` is before `time`, in short transactions that hold up no
   * append for long, and gives their number. Aborted, it keeps what it has not come to yet. What is
   * appended later still comes after all that was ever visible.
   */
  removeBefore(time: Microseconds, options?: WaitOptions): Promise<number>
  /**
   * Calls `hint` when events may have become visible, until the function that it gives is called. A
   * hint may come without reason, late, or not at all: it shortens the wait between polls and
   * replaces none.
   */
  watch(hint: () => void): () => void
  /** Releases what the store itself opened. Safe to call twice. */
  close(): Promise<void>
}
