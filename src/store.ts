import type { AuditEvent, EventDraft, ImportedEvent } from './event.js'
import type { EventQuery } from './filter/ast.js'

/** Every waiting call can be given up. */
export interface WaitOptions {
  readonly signal?: AbortSignal | undefined
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
   * Keeps all of the drafts, in their order, or none; resolves once they are durable. Rejects with
   * `ABORTED` only when none is kept.
   */
  append(drafts: readonly EventDraft[], options?: WaitOptions): Promise<readonly AuditEvent[]>
  /**
   * Keeps events with their own id and time, all or none. One that is there with the same content
   * is skipped; a time later than now, an id or a time that another event has: `IMPORT_CONFLICT`.
   */
  importEvents(events: readonly ImportedEvent[], options?: WaitOptions): Promise<ImportResult>
  /** The event with this id, or `undefined`. */
  get(id: string, options?: WaitOptions): Promise<AuditEvent | undefined>
  /** The matching events: see {@link EventQuery}. */
  list(query: EventQuery, options?: WaitOptions): Promise<EventPage>
  /** Releases what the store itself opened. Safe to call twice. */
  close(): Promise<void>
}
