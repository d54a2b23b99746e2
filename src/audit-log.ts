import { inspect } from 'node:util'
import {
  type AuditLogEvents,
  type AuditLogOptions,
  positive,
  readLimits,
  type RecordChangeOptions,
  type RecordCustomOptions,
  type RecordOptions,
} from './audit-log-options.js'
import { type Calls, createCalls, type SystemCall } from './recording/calls.js'
import { changeData } from './event/changes.js'
import { type Cleaning, createCleaning } from './cleaning/cleaning.js'
import { createDrafts } from './recording/drafts.js'
import { countsQuery } from './counting/count-options.js'
import type { CountOptions, EventCounts } from './store/counts.js'
import { fromFirstVisible } from './counting/visible-span.js'
import { createEmitter, emitSafely, type Handler } from './async/emitter.js'
import { AuditLogError, untilAborted } from './errors.js'
import type { AuditEvent } from './event/event.js'
import type { EventData, EventTypes } from './event/event-types.js'
import { explanationOf, type QueryExplanation } from './explaining/explanation.js'
import { createSlowQueries, readSlowQueryMs, type SlowQueries } from './explaining/slow-queries.js'
import { createTrace } from './store/trace.js'
import { readFailurePolicies } from './recording/failure-policy.js'
import { bothOf, type EventQuery, MAX_LIMIT, oneCondition } from './filter/ast.js'
import { scanDirection } from './filter/order.js'
import { type QueryInput, toQuery } from './filter/query-input.js'
import {
  createFollowing,
  type EventTail,
  type Following,
  type TailOptions,
} from './tail/following.js'
import type { EventChange } from './tail/changes.js'
import { gapData, throttledLoss } from './recording/gaps.js'
import { readImported } from './event/importing.js'
import type { JsonLimits } from './event/json.js'
import { createLiveEvents, type LiveEvent, type LiveEvents } from './live/live-events.js'
import type { AuditLogStats } from './recording/outcomes.js'
import { ownEventTypes } from './recording/own-event-types.js'
import { defaultRecorderOptions } from './recording/queue-limits.js'
import type {
  EventPage,
  EventStore,
  ImportResult,
  ListOptions,
  WaitOptions,
} from './store/store.js'
import type { ThrottlePeriods } from './recording/throttle-rules.js'
import { systemClock } from './event/timestamp.js'

const NO_DATA = {}
const KNOWN: SystemCall = { mustBeKnown: true }
const LIVE: SystemCall = { mustBeKnown: true, live: true }

/**
 * An audit log on a store: `record` what happened, `list` it again.
 *
 * Every method rejects with {@link AuditLogError} only.
 */
export class AuditLog<const Types extends EventTypes = EventTypes> {
  /** The registry this log was made with. */
  readonly types: Types
  readonly store: EventStore
  /** Cleaning rules: run, look ahead, look back. */
  readonly cleaning: Cleaning
  /** Bounds of one event's attributes, as resolved from the options. */
  readonly limits: JsonLimits
  readonly #calls: Calls
  readonly #live: LiveEvents
  readonly #following: Following
  readonly #emitter = createEmitter<AuditLogEvents>()
  /** The store, asked so that what takes long is told of. */
  readonly #asked: SlowQueries
  #closed: Promise<void> | undefined

  constructor(options: AuditLogOptions<Types>) {
    const { store, journal, strict = false, resolveSource, random } = options
    this.types = { ...ownEventTypes, ...options.types }
    this.store = store
    this.limits = readLimits(options.limits)
    const waiting = positive(defaultRecorderOptions, options.waiting)
    const now = store.clock ?? systemClock()
    this.#asked = createSlowQueries(
      store,
      readSlowQueryMs(options.slowQueryMs),
      () => (this.#emitter.all.get('slow-query')?.length ?? 0) > 0,
      (slow) => this.#emit('slow-query', slow),
    )
    this.#following = createFollowing(store)
    this.#live = createLiveEvents(store, this.limits, waiting)
    const calls = createCalls({
      audit: this,
      store,
      types: this.types,
      drafts: createDrafts({ strict, limits: this.limits, resolveSource, random }),
      limits: this.limits,
      periods: (options.throttles ?? {}) as ThrottlePeriods,
      waiting,
      policyOf: readFailurePolicies(options.failurePolicy, journal !== undefined),
      journal,
      now,
      observer: {
        stored: (events) => this.#onStored(events),
        rejected: (type, error) => this.#emit('rejected', { type, error }),
        dropped: (type, error) => this.#emit('dropped', { type, error }),
      },
    })
    this.#calls = calls
    this.cleaning = createCleaning(
      {
        store,
        record: (type, data) => calls.recordOwn(type, data),
        suppressedDraft: (counts) =>
          calls.ownDraft('warn:audit_log:gap', gapData(counts.map(throttledLoss))),
      },
      options.cleaning,
    )
  }

  /**
   * Records a system event of a registered type. Resolves to the stored event once it is durable,
   * or to `undefined` where nothing is readable yet: a throttle or the type's `enabled` holds it
   * back, its failure policy has journalled or dropped it, or it is part of a `transaction` of the
   * host's. Rejects only when the event is certainly not kept: `UNKNOWN_EVENT_TYPE`, `QUEUE_FULL`,
   * `DEADLINE_EXCEEDED`, `ABORTED`, `STORE_FAILED`, `CLOSED`; in
   * strict mode also `INVALID_DATA` and `INVALID_LINK`. The data is copied before the call returns.
   * Calls made at the same time share one transaction.
   */
  record<Type extends keyof Types & string>(
    type: Type,
    data?: EventData<Types[Type]>,
    options?: RecordOptions,
  ): Promise<AuditEvent | undefined> {
    return this.#calls.system(type, data ?? NO_DATA, options, KNOWN)
  }

  /**
   * Records a system event whose type is only known at run time, such as one derived from a
   * request's route. As `record`, but any text of 1 to 255 characters is a type (`INVALID_EVENT`).
   */
  recordSystem(
    type: string,
    data: object = {},
    options?: RecordOptions,
  ): Promise<AuditEvent | undefined> {
    return this.#calls.system(type, data, options)
  }

  /**
   * Records a custom event: `system` is false, the type is the caller's. As `record`; a link
   * attribute that names nothing rejects with `INVALID_LINK`, an unusable type with
   * `INVALID_EVENT`, both with a pointer.
   *
   * With an `idempotencyKey`, calls of one user with the same key within 24 hours of the first come to
   * one event, in whatever process, and all resolve to it; one with another type or other data rejects
   * with `IDEMPOTENCY_CONFLICT`. Such a call takes its place in the order once the store has told
   * whether the key is new; where it does not tell, the call rejects whatever its failure policy, and
   * can be made again.
   */
  recordCustom(
    type: string,
    data: object = {},
    options?: RecordCustomOptions,
  ): Promise<AuditEvent | undefined> {
    return this.#calls.custom(type, data, options)
  }

  /**
   * Records how something was changed: as `record`, with the attribute `changes`, the operations of
   * JSON Patch (RFC 6902) that make `before` into `after`, each with the `old_value` too. So
   * `filter[changes_path_eq]=/name` finds it. `null` stands for what is not there, before it was
   * made or after it was removed. Values under the keys of secrets are not shown; long ones are
   * cut, and operations beyond the first 1000 (`changes_cut`).
   */
  recordChange(
    type: keyof Types & string,
    before: unknown,
    after: unknown,
    { data = {}, ...options }: RecordChangeOptions = {},
  ): Promise<AuditEvent | undefined> {
    const changed = { ...data, ...changeData(before, after, this.limits) }
    return this.#calls.system(type, changed, options, KNOWN)
  }

  /**
   * Records a system event that goes on changing, such as the log of a job while it runs: as
   * `record`, and its attributes change until it is closed. Readers find it where it was recorded,
   * each time as it is then. `await using live = await audit.recordLive(…)` closes it in any case.
   */
  async recordLive<Type extends keyof Types & string>(
    type: Type,
    data?: EventData<Types[Type]>,
    options: Omit<RecordOptions, 'transaction'> = {},
  ): Promise<LiveEvent> {
    const { username, signal } = options
    const call = this.#calls.system(type, data ?? NO_DATA, { username, signal }, LIVE)
    return this.#live.open(await call)
  }

  /**
   * The events that match, at most `limit` of them (10 unless the query says, 1000 at most):
   * without sorts the newest, oldest first; with sorts the first of that order. Rejects with the
   * codes of `parseQuery`, `ABORTED`, `STORE_FAILED`, `CLOSED`.
   */
  async list(query?: QueryInput, options?: ListOptions): Promise<EventPage> {
    return this.#asked.list('list', toQuery(query), options)
  }

  /**
   * How `list` answers the query: its steps, the events gone through in each, and the time. The query
   * is run as `list` runs it, and what the store has to tell of itself is asked besides. Rejects as
   * `list` does.
   */
  async explain(query?: QueryInput, { signal }: WaitOptions = {}): Promise<QueryExplanation> {
    const asked = toQuery(query)
    const trace = createTrace({ detailed: true })
    const start = performance.now()
    const page = await this.store.list(asked, { signal, trace }).finally(() => trace.stop())
    return explanationOf(this.store.name, asked, trace, page, performance.now() - start)
  }

  /**
   * Every match in pages of at most 1000 events, in constant memory: from the newest page back,
   * each page oldest first; with `created_at asc` as the sort from the oldest on. Another sort
   * rejects with `INVALID_VALUE`. Events recorded meanwhile are not among them, or at the end.
   */
  async *pages(
    query?: QueryInput,
    options?: ListOptions,
  ): AsyncGenerator<readonly AuditEvent[], void, void> {
    const { where, sorts } = toQuery(query)
    const direction = scanDirection(sorts)
    if (!direction) {
      const message = 'filter[sorts]: pages run along created_at; use list for another order'
      throw new AuditLogError('INVALID_VALUE', message, { parameter: 'filter[sorts]' })
    }
    let bound: EventQuery['where']
    for (;;) {
      const page = await this.#asked.list(
        'pages',
        { where: bothOf(where, bound), sorts, limit: MAX_LIMIT },
        options,
      )
      if (page.events.length > 0) yield page.events
      if (!page.truncated) return
      const last = sorts.length === 0 ? page.events[0]! : page.events.at(-1)!
      bound = oneCondition('created_at', direction === 'desc' ? 'lt' : 'gt', [last.created_at])
    }
  }

  /**
   * Every match that becomes visible after the call, or after the time `after`, once and in the
   * order of `created_at`: `for await (const event of audit.tail('filter[type_start]=error:')) …`.
   * It waits for more until the loop is left; the signal ends it with `ABORTED`, the log's end with
   * `CLOSED`, a wrong query or `after` with the codes of `parseQuery`. While the store fails it waits
   * and tries again, without a bound but the signal; only where it starts, without `after`, has to be
   * read at once. A `limit` means nothing to it, sorts reject with `INVALID_VALUE`. Whoever reads
   * slowly holds one page in memory. Imported events are not delivered, but for those of another
   * Daybook that are newer than all that was there.
   */
  tail(query?: QueryInput, options?: TailOptions & { readonly changes?: false }): EventTail
  /**
   * The same, and with `changes` how the open ones among them change: {@link EventChange}s with the
   * JSON Patch (RFC 6902) of the attributes, within 250 ms; changes in quick succession share one.
   * Of matching events that were open before, the first one gives the attributes as they are then.
   */
  tail(query: QueryInput | undefined, options: TailOptions): EventTail<AuditEvent | EventChange>
  tail(query?: QueryInput, options: TailOptions = {}): EventTail<AuditEvent | EventChange> {
    return this.#following.tail(() => toQuery(query), options)
  }

  /**
   * Figures over all events that match, whatever the query's sorts and limit: how many they are, of which
   * levels, and if asked over time, by the most frequent values of attributes, and which attributes they
   * have. After 2 seconds, or `within`, they are estimates from a sample: `sampled` tells. Rejects with
   * the codes of `parseQuery`, `INVALID_VALUE` for a wrong option, `ABORTED`, `STORE_FAILED`, `CLOSED`.
   */
  async count(query?: QueryInput, options: CountOptions = {}): Promise<EventCounts> {
    const { signal } = options
    const wanted = await fromFirstVisible(this.store, countsQuery(query, options), { signal })
    return this.#asked.count(wanted, { signal })
  }

  /** The event with this id, or `undefined`. */
  async get(id: string, options?: WaitOptions): Promise<AuditEvent | undefined> {
    return this.store.get(id.toLowerCase(), options)
  }

  /**
   * Keeps whole events with their own `id` (any UUID) and `created_at`, for migration and backfill:
   * all of the call or none. They take their place in the past and are delivered to no listener.
   * One that is there already with the same content is skipped, so an import can be repeated.
   * `INVALID_EVENT` names the first unusable event; `IMPORT_CONFLICT` an id or a time that another
   * event has, or a time later than now.
   */
  async importEvents(events: readonly AuditEvent[], options?: WaitOptions): Promise<ImportResult> {
    const imported = events.map((event, index) => readImported(event, index, this.limits))
    return this.store.importEvents(imported, options)
  }

  on<Name extends keyof AuditLogEvents>(name: Name, handler: Handler<AuditLogEvents[Name]>): void {
    this.#emitter.on(name, handler)
  }

  off<Name extends keyof AuditLogEvents>(
    name: Name,
    handler?: Handler<AuditLogEvents[Name]>,
  ): void {
    this.#emitter.off(name, handler)
  }

  /** Where the calls made so far stand; exact at every moment. */
  stats(): AuditLogStats {
    return this.#calls.stats()
  }

  /**
   * Resolves when every call made before is settled, and what throttles have held back is told to
   * the store, if it is there. Rejects with `ABORTED` only.
   */
  flush(options?: WaitOptions): Promise<void> {
    return untilAborted(this.#calls.flush(), options?.signal)
  }

  /**
   * Refuses further calls with `CLOSED`, waits for those made, marks live events that are open as
   * unfinished, and closes store and journal. Idempotent. With an aborted signal it is not waited
   * for, but goes on.
   */
  close(options?: WaitOptions): Promise<void> {
    this.#closed ??= this.#end()
    return untilAborted(this.#closed, options?.signal)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #end(): Promise<void> {
    this.#calls.refuseNew()
    try {
      // Both may still record; neither keeps the store from being closed.
      await Promise.allSettled([this.cleaning.close(), this.#live.close()])
      await this.#calls.close()
      await this.store.close()
    } finally {
      this.#following.wake()
    }
  }

  #onStored(events: readonly AuditEvent[]): void {
    this.#following.stored(events)
    if (this.#emitter.all.has('recorded')) for (const event of events) this.#emit('recorded', event)
  }

  #emit<Name extends keyof AuditLogEvents>(name: Name, event: AuditLogEvents[Name]): void {
    emitSafely(this.#emitter, name, event, (error) => {
      if (name !== 'error' && this.#emitter.all.get('error')?.length) this.#emit('error', error)
      else process.emitWarning(error instanceof Error ? error : new Error(inspect(error)))
    })
  }
}
