import type { CountsQuery, EventCounts } from './counts.js'
import type {
  AuditEvent,
  EventDraft,
  ImportedEvent,
  JsonObject,
  JsonValue,
} from '../event/event.js'
import type { IdTail } from '../event/event-id.js'
import type { QueryTrace } from './trace.js'
import type { EventQuery } from '../filter/ast.js'
import type { Clock, Microseconds } from '../event/timestamp.js'

/** Every waiting call can be given up. */
export interface WaitOptions {
  readonly signal?: AbortSignal | undefined
}

export interface ListOptions extends WaitOptions {
  /**
   * For events that are only sent on: their attributes may stay JSON text until somebody asks for
   * `attributes`, which spreading and printing such an event do not. Stores need not heed it.
   * @default false
   */
  readonly lazy?: boolean | undefined
  /**
   * Where a store tells how it answers, for {@link AuditLog.explain}: it enters a step for each way in
   * which it comes by events, and adds up what it does there.
   */
  readonly trace?: QueryTrace | undefined
}

export interface AppendOptions extends WaitOptions {
  /**
   * When the caller gives up, on the scale of `performance.now()`: what is not kept by then must not
   * be kept later.
   */
  readonly deadline?: number | undefined
  /**
   * Drafts may have been kept later than this, by an attempt whose outcome nobody knows any more,
   * such as that of a process which died: they are looked for by their tails, and kept once.
   */
  readonly since?: Microseconds | undefined
  /**
   * Tails of drafts that will be given again in any case: a store which does not know what became of
   * them need not remove what it may have kept. Looked at when it would, since tails are taken out again.
   */
  readonly retriedLater?: ReadonlySet<IdTail> | undefined
  /** Told of each draft that its throttle holds back, and how long that goes on, before `append` resolves. */
  readonly onSuppressed?: ((draft: EventDraft, opensIn: Microseconds) => void) | undefined
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

/** How often a throttle has held calls back, between two reports or in all. */
export interface SuppressedCount {
  /** That of the throttle, as drafts carry it. */
  readonly key: string
  readonly type: string
  /** The values of the scope's data keys; empty where the throttle has no scope. */
  readonly scope: JsonObject
  readonly period: Microseconds
  readonly count: number
  /** When the first and the last of them were held back. */
  readonly first: Microseconds
  readonly last: Microseconds
}

export interface SuppressedReport {
  /** Names the one who reports, such as a UUID. */
  readonly reporter: string
  /** Rises from report to report: one that has come already is not added again. */
  readonly number: number
  readonly counts: readonly SuppressedCount[]
}

/** What becomes of an open live event. */
export interface LiveChange {
  /**
   * The change's number in its event, 1 for the first: one that has been applied already is not
   * applied again.
   */
  readonly revision: number
  /** The attributes' new JSON text, in which the texts that grow are `''`; without it they stay. */
  readonly json?: string | undefined
  /** Text that is added to the end of top-level attributes, or takes the place of all their text. */
  readonly texts?:
    | readonly { readonly key: string; readonly text: string; readonly replaces: boolean }[]
    | undefined
}

export interface OpenEvent {
  readonly id: string
  /** That of the last change; 0 before the first. */
  readonly revision: number
}

export interface UpdateStateOptions extends WaitOptions {
  /**
   * How long after it is written the value is forgotten: from then on there is none.
   * @default it is kept
   */
  readonly keepFor?: Microseconds | undefined
}

export interface RemoveOptions extends WaitOptions {
  /** Told after each transaction how many events have been removed so far. */
  readonly onProgress?: ((removed: number) => void) | undefined
}

/** What of the newest events is to be kept; what goes beyond any of these is due. */
export interface KeptBounds {
  /** Those whose `created_at` is not before it. */
  readonly from?: Microseconds | undefined
  /** So many of the newest. */
  readonly rows?: number | undefined
  /** As many of the newest as have so many bytes of attributes together (JSON text in UTF-8). */
  readonly bytes?: number | undefined
}

export interface ExcessEvents {
  /** All events before this time are due, and no others. */
  readonly before: Microseconds
  readonly count: number
}

export interface Analysis {
  /** What was analyzed, with the planner's estimates of its rows; empty when nothing was stale. */
  readonly analyzed_tables: readonly {
    readonly table: string
    readonly rows_before: number | null
    readonly rows_after: number | null
  }[]
  /** Set where somebody else was at it. */
  readonly skipped_reason?: string
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
  /** By which the store tells times and periods; `undefined` where it goes by its server's clock. */
  readonly clock?: Clock | undefined
  /**
   * Keeps all of the drafts, in their order, or none; resolves once they are durable. Rejects only
   * when none is kept. Given drafts again whose first attempt may have succeeded, it finds them by
   * their tails and keeps none twice. A store that can be away for a while tries again until the
   * signal aborts.
   *
   * A draft with a `throttle` is kept only where none of its key has been kept for a period: the
   * others are missing in the answer, which has the kept ones in their order. One that is kept takes
   * along what was reported as suppressed under its key: it has the attributes `suppressed_count`
   * and `suppressed_since` (the first one's time) then. By a clock that was set back a throttle stays
   * closed for one more period at most.
   *
   * A draft that is `live` is open when it is kept: see `changeLive`.
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
  list(query: EventQuery, options?: ListOptions): Promise<EventPage>
  /**
   * Counts the events that match, live ones that are open among them, as they are at the call. After
   * about `query.within` milliseconds what has been seen by then, spread over the whole stretch of
   * time, is scaled, and the answer says so. Holds up no append for long.
   */
  count(query: CountsQuery, options?: WaitOptions): Promise<EventCounts>
  /**
   * Removes the events whose `created_at` is before `time`, in short transactions that hold up no
   * append for long, and gives their number. Aborted, it keeps what it has not come to yet. What is
   * appended later still comes after all that was ever visible.
   */
  removeBefore(time: Microseconds, options?: RemoveOptions): Promise<number>
  /**
   * Removes those of the events that are there; gives their number. As `removeBefore`, for what
   * only a filter can tell. Live events that are open stay.
   */
  remove(ids: readonly string[], options?: WaitOptions): Promise<number>
  /**
   * What of all events lies beyond the bounds; without bounds nothing. Live events that are open
   * do not count. Holds up no append for long.
   */
  excess(bounds: KeptBounds, options?: WaitOptions): Promise<ExcessEvents>
  /** Adds to what throttles have held back, all of the report or nothing. */
  reportSuppressed(report: SuppressedReport, options?: WaitOptions): Promise<void>
  /**
   * Tells of what throttles have held back and no event took along, of those that have been open
   * for a period: in one transaction keeps the draft that `draftOf` makes of some of them, at most
   * 1000, and takes these counts away. Gives how many counts it told; 0 when there are none left.
   */
  recordSuppressed(
    draftOf: (counts: readonly SuppressedCount[]) => EventDraft,
    options?: WaitOptions,
  ): Promise<number>
  /**
   * A small value that processes share: `change` is given it (`undefined` where there is none), and
   * the store's time, and gives the new one (`undefined` removes it), which is resolved to. Atomic; `change` may be
   * called more than once. A value that it gives back as it was is not written again, so it is forgotten
   * when it would have been.
   */
  updateState(
    key: string,
    change: (value: JsonValue | undefined, now: Microseconds) => JsonValue | undefined,
    options?: UpdateStateOptions,
  ): Promise<JsonValue | undefined>
  /**
   * Changes an open live event; what readers find from then on is the event with the change. False
   * where it is open no longer. An open event of which nobody has changed or touched anything for
   * about 20 seconds is closed by whoever notices, with the attribute `unfinished: true`.
   */
  changeLive(id: string, change: LiveChange, options?: WaitOptions): Promise<boolean>
  /** Tells that those who hold the open events are there. */
  touchLive(ids: readonly string[], options?: WaitOptions): Promise<void>
  /**
   * Applies the last change and closes the event: it stays as any other, in its place in time. Gives
   * the event, also one that is closed already; `undefined` where there is none.
   */
  closeLive(id: string, change: LiveChange, options?: WaitOptions): Promise<AuditEvent | undefined>
  /** The live events that are open, oldest first. */
  openEvents(options?: WaitOptions): Promise<readonly OpenEvent[]>
  /**
   * Refreshes the statistics of the database's query planner where they are stale. Stores without
   * this method have no planner.
   */
  analyze?(options?: WaitOptions): Promise<Analysis>
  /**
   * Calls `hint` when events may have become visible, until the function that it gives is called. A
   * hint may come without reason, late, or not at all: it shortens the wait between polls and
   * replaces none.
   */
  watch(hint: () => void): () => void
  /** Releases what the store itself opened. Safe to call twice. */
  close(): Promise<void>
}
