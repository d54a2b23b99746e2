import type { ClockDoubt } from './clock-guard.js'
import type { Damage } from './damage.js'
import type { LedgerStore } from './ledger.js'
import type { CountsQuery, EventCounts } from './counts.js'
import type { StoreHealth } from './health.js'
import type {
  AuditEvent,
  EventDraft,
  ImportedEvent,
  JsonObject,
  JsonValue,
} from '../event/event.js'
import type { IdSuffix } from '../event/event-id.js'
import type { RebuildOptions, Verification, VerifyOptions } from './verification.js'
import type { ScrubOptions, Scrubbed } from './scrub.js'
import type { QueryTrace } from './trace.js'
import type { EventQuery } from '../filter/ast.js'
import type { Clock, Microseconds } from '../event/timestamp.js'
import { AuditLogError } from '../errors.js'
import { checkOptions, type OptionNames } from '../options.js'
import { WAIT_OPTIONS, type WaitOptions } from './wait-options.js'

export { WAIT_OPTIONS, type WaitOptions }

export interface ReadOptions extends WaitOptions {
  /**
   * Minimum state of the answer: a token of `consistencyToken`, the `created_at` of an event, or `'newest'`. For
   * `'newest'`, a store with replicas reads from its primary. Rejects with `NOT_REACHED` if the log has not reached
   * the state, and with `INVALID_VALUE` for anything else.
   */
  readonly consistencyToken?: string | undefined
}

export const READ_OPTIONS: OptionNames<ReadOptions> = { ...WAIT_OPTIONS, consistencyToken: true }

export interface ListOptions extends ReadOptions {
  /**
   * Waits until the events of the answer are durable, for a caller that passes them on. Without it, a list may
   * contain an event some milliseconds before `record` resolves, and a power cut may still remove the event. @default
   * false
   */
  readonly durable?: boolean | undefined
  /**
   * For events that are only serialized: their attributes may stay JSON text until `attributes` is
   * read. Spreading or printing such an event does not read it. Stores may ignore this option.
   * @default false
   */
  readonly lazy?: boolean | undefined
  /**
   * Records how the store answers, for {@link AuditLog.explain}. The store enters a step for each
   * method by which it finds events, and adds its work to the figures of that step.
   */
  readonly trace?: QueryTrace | undefined
}

export const LIST_OPTIONS: OptionNames<ListOptions> = {
  ...READ_OPTIONS,
  durable: true,
  lazy: true,
  trace: true,
}

export interface AppendOptions extends WaitOptions {
  /**
   * Time on the scale of `performance.now()` at which the caller gives up. A draft that is not stored at this time
   * must not be stored later.
   */
  readonly deadline?: number | undefined
  /**
   * An earlier attempt with an unknown outcome, such as an attempt of a process that died, may have stored the drafts
   * after this time. The store looks for their suffixes and stores no draft twice.
   */
  readonly since?: Microseconds | undefined
  /**
   * Suffixes of drafts that will be appended again in any case. If a store does not know whether it stored such a
   * draft, it need not remove it. Members change, so the store must read the set only when it needs it.
   */
  readonly retriedLater?: ReadonlySet<IdSuffix> | undefined
  /**
   * Called before `append` resolves for each draft that its throttle suppresses, with the time until
   * the throttle opens.
   */
  readonly onSuppressed?: ((draft: EventDraft, opensIn: Microseconds) => void) | undefined
  /**
   * Called at most once, when the drafts are stored and visible, if they are not durable yet. The next `append` may
   * be called then. From then on `signal` and `deadline` do not end the call. Stores whose events become visible when
   * they are durable do not call it.
   */
  readonly onStored?: (() => void) | undefined
}

export interface EventPage {
  /** Without sorts the newest matching events, oldest first; with sorts the first in that order. */
  readonly events: readonly AuditEvent[]
  /** True when more events matched than the limit allows. */
  readonly truncated: boolean
}

export interface ImportResult {
  readonly imported: number
  /** Events that the store already had, with the same id and content. */
  readonly skipped: number
}

/** Number of calls that a throttle has suppressed, since the last report or in total. */
export interface SuppressedCount {
  /** The key of the throttle, as in drafts. */
  readonly key: string
  readonly type: string
  /** The values of the scope's data keys; empty for a throttle without a scope. */
  readonly scope: JsonObject
  readonly period: Microseconds
  readonly count: number
  /** Times of the first and the last suppressed call. */
  readonly first: Microseconds
  readonly last: Microseconds
}

export interface SuppressedReport {
  /** Identifies the reporting process, such as a UUID. */
  readonly reporter: string
  /** Increases with each report of a reporter. A report with a known number is not added again. */
  readonly number: number
  readonly counts: readonly SuppressedCount[]
}

/** A change of an open live event. */
export interface LiveChange {
  /** Number of the change within its event, from 1. A change is applied only once. */
  readonly revision: number
  /** New JSON text of the attributes, with `''` for growing texts. Missing if the attributes do not change. */
  readonly json?: string | undefined
  /** Text to append to top-level attributes, or to replace their text with. */
  readonly texts?:
    | readonly { readonly key: string; readonly text: string; readonly replaces: boolean }[]
    | undefined
}

export interface OpenEvent {
  readonly id: string
  /** The revision of the last change; 0 before the first. */
  readonly revision: number
}

export interface UpdateStateOptions extends WaitOptions {
  /** Time after the last write at which the value expires. @default never */
  readonly keepFor?: Microseconds | undefined
}

/**
 * Computes new values from the values of some keys, at the store's time. A key that it leaves out keeps its value; `undefined`
 * removes it.
 */
export type ChangeStates = (
  values: ReadonlyMap<string, JsonValue | undefined>,
  now: Microseconds,
) => ReadonlyMap<string, JsonValue | undefined>

export interface ReadStatesOptions extends WaitOptions {
  /** Keys after this one. @default all */
  readonly after?: string | undefined
  /** Maximum number of keys. */
  readonly limit: number
}

export interface RemoveOptions extends WaitOptions {
  /** Called after each transaction with the number of events removed so far. */
  readonly onProgress?: ((removed: number) => void) | undefined
}

/** A period whose events a store can remove at once, such as a partition. */
export interface EventRange {
  readonly name: string
  /** `created_at` of the events: from this time on, and before `to`. */
  readonly from: Microseconds
  readonly to: Microseconds
}

/** The state of a store at one moment, and its ranges at that moment. */
export interface RemovableRanges {
  /**
   * Identifies the events that the store had at that moment. The latest events may be left out. They count as stored
   * later.
   */
  readonly snapshot: string
  /** Oldest first. */
  readonly ranges: readonly EventRange[]
}

/** Number of the newest events to keep. Events beyond any of these bounds are in excess. */
export interface KeptBounds {
  /** Keep events whose `created_at` is not before this time. */
  readonly from?: Microseconds | undefined
  /** Keep this many of the newest events. */
  readonly rows?: number | undefined
  /** Keep the newest events whose attributes, as JSON text in UTF-8, fit in this many bytes together. */
  readonly bytes?: number | undefined
}

export interface ExcessEvents {
  /** The events before this time are in excess, and no others. */
  readonly before: Microseconds
  readonly count: number
}

export interface Analysis {
  /** The analyzed tables, with the planner's estimates of their rows. Empty when no statistics were stale. */
  readonly analyzed_tables: readonly {
    readonly table: string
    readonly rows_before: number | null
    readonly rows_after: number | null
  }[]
  /** Set when another process was analyzing. */
  readonly skipped_reason?: string
}

/** Tuning of the calls of `append`. */
export interface StoreTuning {
  /**
   * Maximum number of drafts to pass to one `append`, 1 or more.
   * @default 500
   */
  readonly maxBatch?: number | undefined
  /**
   * True if a server does the work of `append`. The store is then given the next full batch before
   * the calls of the last one continue.
   * @default false
   */
  readonly appendsInBackground?: boolean | undefined
  /**
   * True if the store reads only the JSON text of drafts. Then the log does not copy their attributes; it parses the
   * text when the attributes are first read. @default false
   */
  readonly appendsText?: boolean | undefined
}

const STORE_TUNING: OptionNames<StoreTuning> = {
  maxBatch: true,
  appendsInBackground: true,
  appendsText: true,
}

/** The tuning of a store, with defaults. Throws `INVALID_OPTION`. */
export function readTuning({ name, tuning }: Pick<EventStore, 'name' | 'tuning'>) {
  const where = `tuning of the ${name} store`
  checkOptions(tuning, STORE_TUNING, where)
  const { maxBatch = 500, appendsInBackground = false, appendsText = false } = tuning ?? {}
  if (!Number.isInteger(maxBatch) || maxBatch < 1)
    throw new AuditLogError(
      'INVALID_OPTION',
      `maxBatch in ${where} must be a whole number of at least 1`,
    )
  return { maxBatch, appendsInBackground, appendsText }
}

/**
 * A place that stores events. The core passes valid input only: complete drafts, parsed queries with
 * a limit. Methods reject with `AuditLogError`: `CLOSED` after `close`, `ABORTED` when the signal
 * aborts first, `STORE_FAILED` (with the driver's error as `cause`) when the store fails.
 *
 * The store assigns `created_at` when an event becomes visible. It is unique and strictly increasing
 * in that order for all processes on one store, even when the clock steps back or the newest events
 * are removed. A reader that has seen an event never finds an older one later.
 */
export interface EventStore {
  /** Shown in errors and test titles, such as `sqlite`. */
  readonly name: string
  /** True if methods that write reject with `READ_ONLY`. @default false */
  readonly readOnly?: boolean | undefined
  /** Tuning of the calls of `append`. Does not change the stored events. */
  readonly tuning?: StoreTuning | undefined
  /** The clock of the store; `undefined` if the store uses the clock of its server. */
  readonly clock?: Clock | undefined
  /** The ledger of the events. Stores that cannot keep one lack this member. */
  readonly ledger?: LedgerStore | undefined
  /**
   * Stores all of the drafts, in their order, or none. Resolves once they are durable, and rejects
   * only when none is stored, or with `OUTCOME_UNKNOWN`: the drafts are stored, but a power cut may take them back, or a standby
   * that takes over may lack them. If the caller gives up during a commit that stores them after all, the store
   * rejects with `OUTCOME_UNKNOWN`, or removes them; they stay if the process dies before that. When a retry follows an attempt that may
   * have succeeded, the store finds the drafts by their suffixes and stores none twice. A store that can
   * be unreachable retries until the signal aborts.
   *
   * A draft with a `throttle` is stored only if no draft with its key was stored within the period.
   * The result has the stored events in their order, without the suppressed ones. A stored event
   * takes the suppressed calls reported under its key as its attributes `suppressed_count` and
   * `suppressed_since` (the time of the first). After the clock was set back, a throttle stays closed
   * for at most one more period.
   *
   * A `live` draft becomes an open event: see `changeLive`.
   */
  append(drafts: readonly EventDraft[], options?: AppendOptions): Promise<readonly AuditEvent[]>
  /**
   * Adds the draft to a transaction that the caller has open on the same database, through an outbox table. Resolves
   * when the draft is in the outbox. After the commit the event becomes visible with the next append of any process,
   * or within about a second; large numbers take several appends. After a rollback there is no event. An event that
   * becomes visible more than a second after `enlist` gets the time of this call as `occurred_at`, unless it has that
   * attribute. `INVALID_OPTION` if `transaction` is not an open handle on this database, or has no open transaction.
   * Stores without transactions lack this method.
   */
  enlist?(draft: EventDraft, transaction: object, options?: WaitOptions): Promise<void>
  /**
   * Stores events with their own id and time, all or none. Skips an event that the store has with the
   * same content. `IMPORT_CONFLICT` for a time in the future, and for an id or time of another event;
   * `OUTCOME_UNKNOWN` if it is not known whether the events are stored. A call may be repeated.
   */
  importEvents(events: readonly ImportedEvent[], options?: WaitOptions): Promise<ImportResult>
  /**
   * A token for the state of the log at this moment, for reads in any process: see {@link ReadOptions}. Stores
   * that always answer from their newest state may lack this method.
   */
  consistencyToken?(options?: WaitOptions): Promise<string>
  /** The event with this id, or `undefined`. */
  get(id: string, options?: ReadOptions): Promise<AuditEvent | undefined>
  /** The matching events: see {@link EventQuery}. */
  list(query: EventQuery, options?: ListOptions): Promise<EventPage>
  /**
   * Counts the matching events, including open live events, as of the call. After about `query.within` milliseconds
   * it scales the figures of a sample that is spread over the whole time range; `exact` of the result is then false.
   * Does not block appends for long.
   */
  count(query: CountsQuery, options?: ReadOptions): Promise<EventCounts>
  /**
   * Removes the events whose `created_at` is before `time`, in short transactions that do not block appends for long,
   * and returns their number. After an abort, the remaining events stay. Later appends still come after every event
   * that was ever visible. Rejects with `SIGNER_REQUIRED` once the store has a ledger, as `remove` does.
   */
  removeBefore(time: Microseconds, options?: RemoveOptions): Promise<number>
  /**
   * The ranges that end at this time or before. With the `snapshot` of an earlier call, the result has the same
   * snapshot, unless the store can no longer identify its events. Stores that do not remove ranges at once lack this
   * method and the next two.
   */
  removableRanges?(
    time: Microseconds,
    options?: WaitOptions & { readonly snapshot?: string | undefined },
  ): Promise<RemovableRanges>
  /**
   * The oldest events of the range that are in the snapshot and later than `after`, up to `limit`. `undefined` if
   * some of them cannot be read.
   */
  readRange?(
    range: EventRange,
    options: WaitOptions & {
      readonly snapshot: string
      readonly after: Microseconds
      readonly limit: number
    },
  ): Promise<readonly AuditEvent[] | undefined>
  /**
   * Removes the events of the range that are in the snapshot, and returns their number. Events that were stored later
   * stay; if the process dies, they may be missing from lists until the next call of `removableRanges`.
   */
  removeRange?(
    range: EventRange,
    options: WaitOptions & { readonly snapshot: string },
  ): Promise<number>
  /**
   * Removes the events with these ids and returns their number. Like `removeBefore`, for events that a filter
   * selects. Open live events stay.
   */
  remove(ids: readonly string[], options?: WaitOptions): Promise<number>
  /**
   * Finds the events beyond the bounds; without bounds there are none. Open live events do not count.
   * Does not block appends for long.
   */
  excess(bounds: KeptBounds, options?: WaitOptions): Promise<ExcessEvents>
  /** Adds the counts of suppressed calls to the stored counts: the complete report or nothing. */
  reportSuppressed(report: SuppressedReport, options?: WaitOptions): Promise<void>
  /**
   * Records suppressed calls of throttles that have been open for a period, if no event has included them. One
   * transaction processes at most 1000 of these counts: it stores the draft that `draftOf` makes from them, and
   * removes the counts. Returns the number of processed counts; 0 when none are left.
   */
  recordSuppressed(
    draftOf: (counts: readonly SuppressedCount[]) => EventDraft,
    options?: WaitOptions,
  ): Promise<number>
  /**
   * Updates a small shared value atomically. `change` gets the value (`undefined` if there is none) and the store's
   * time, and returns the new value (`undefined` removes it). The call resolves to the new value. `change` may be
   * called more than once. An unchanged value is not written, so its expiry stays.
   */
  updateState(
    key: string,
    change: (value: JsonValue | undefined, now: Microseconds) => JsonValue | undefined,
    options?: UpdateStateOptions,
  ): Promise<JsonValue | undefined>
  /**
   * Like `updateState`, for several keys in one transaction. New values are written only if all keys still have the
   * values that `change` received, also values that it does not change. Rejects with `INVALID_VALUE` if `change`
   * returns a key that is not among `keys`.
   */
  updateStates(
    keys: readonly string[],
    change: ChangeStates,
    options?: UpdateStateOptions,
  ): Promise<void>
  /** The keys that begin with `prefix`, ordered by code points, with their values at one moment. */
  readStates(
    prefix: string,
    options: ReadStatesOptions,
  ): Promise<readonly (readonly [string, JsonValue])[]>
  /**
   * Changes an open live event. Readers see the change from then on. Resolves to false if the event
   * is no longer open. The store closes an open event, with the attribute `unfinished: true`, after
   * about 20 seconds without a change or a heartbeat.
   */
  changeLive(id: string, change: LiveChange, options?: WaitOptions): Promise<boolean>
  /** Records a heartbeat for open events. */
  touchLive(ids: readonly string[], options?: WaitOptions): Promise<void>
  /**
   * Applies the last change and closes the event, which keeps its id and time. Resolves to the event, also if it was
   * already closed, or to `undefined` if no such event exists.
   */
  closeLive(id: string, change: LiveChange, options?: WaitOptions): Promise<AuditEvent | undefined>
  /** The open live events, oldest first. */
  openEvents(options?: ReadOptions): Promise<readonly OpenEvent[]>
  /**
   * Refreshes stale statistics of the database's query planner. Stores without a planner lack this
   * method.
   */
  analyze?(options?: WaitOptions): Promise<Analysis>
  /**
   * Asks the database, as the next `append` or `list` would, how the store is. Rejects as `get` does if the
   * database cannot be reached. Takes milliseconds.
   */
  health?(options?: WaitOptions): Promise<StoreHealth>
  /**
   * Calls `hint` when events may have become visible. The returned function ends the calls. A hint may be
   * unnecessary, late or missing, so callers must also poll; hints only shorten the wait. A store with replicas
   * passes a token of the state that has the events.
   */
  watch(hint: (consistencyToken?: string) => void): () => void
  /**
   * Calls `handler` whenever the store notices damage, possibly several times for the same damage. The
   * returned function stops that. Stores that check nothing lack this method.
   */
  watchDamage?(handler: (damage: Damage) => void): () => void
  /**
   * Calls `handler` for each reading of the clock that the store doubts. After a jump of more than 30
   * days ahead, new events get the last trusted time plus the time since, until the jump has lasted for
   * 10 minutes. At a start more than 30 days from the newest event, new events follow the clock. Stores
   * that follow the clock lack this method.
   */
  watchClock?(handler: (doubt: ClockDoubt) => void): () => void
  /**
   * The high-water mark before this process stored anything, 0 for a log without events; `undefined` until it is known. Without
   * this method, rules by age read the newest event.
   */
  highWaterAtStart?(): Microseconds | undefined
  /** Follows the clock from now on, also while it is in doubt. */
  acceptClock?(): void
  /**
   * Reads all events, the index and the database's own structures, and returns the damaged places. Does not block
   * other calls for long. Stores without checksums lack this method.
   */
  verify?(options?: VerifyOptions): Promise<Verification>
  /**
   * Rebuilds the index from the events, while queries use the old index. Resolves when the new index is in use.
   * Stores that lack `verify` lack this method.
   */
  rebuildIndex?(options?: RebuildOptions): Promise<void>
  /**
   * Removes what is left of the values of events that were removed before: in throttles, in the index with its names of attributes, in
   * compression dictionaries, in statistics of the query planner, and in the files of the store. Events, open live events, drafts
   * that are not stored yet, and states that have not expired stay. A throttle whose last event was removed opens, and its count of
   * suppressed calls is lost, as both have values of that event.
   *
   * Reads and writes everything once: it takes minutes for millions of events. Queries use the old index until the new one is complete. SQLite
   * writes the whole file anew: this needs free space of twice its size, and appends of all processes wait for it, about 10
   * seconds for each gigabyte on an idle machine. Rejects with `ABORTED` and `STORE_FAILED`; then what is done stays, and the call can be repeated. Stores that keep
   * nothing but the events lack this method.
   */
  scrub?(options?: ScrubOptions): Promise<Scrubbed>
  /** Releases the resources that the store opened itself. Safe to call twice. */
  close(): Promise<void>
}
