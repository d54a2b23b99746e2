import { ASYNC_DISPOSE } from './async/disposal.js'
import { inspect } from 'node:util'
import {
  type AuditLogEvents,
  type AuditLogOptions,
  checkAuditLogOptions,
  positive,
  readLimits,
  readStore,
  RECORD_CHANGE_OPTIONS,
  RECORD_LIVE_OPTIONS,
  RECORD_OPTIONS,
  type RecordChangeOptions,
  type RecordCustomOptions,
  type RecordOptions,
  type RecordSystemOptions,
  RECORD_CUSTOM_OPTIONS,
  RECORD_SYSTEM_OPTIONS,
} from './audit-log-options.js'
import type { CallKind } from './recording/call.js'
import { type Calls, createCalls } from './recording/calls.js'
import { changeData } from './event/changes.js'
import { type AuditHealth, checkHealth, type HealthOptions } from './health/health.js'
import { type AgeClock, createAgeClock, readWaitingRules } from './cleaning/age-clock.js'
import { type Cleaning, createCleaning } from './cleaning/cleaning.js'
import { createClockGuard, guardedClock } from './store/clock-guard.js'
import { damageText, reportClock, reportDamage } from './recording/reports.js'
import { createDrafts, type Drafts } from './recording/drafts.js'
import { countsQuery } from './counting/count-options.js'
import {
  COUNT_OPTIONS,
  type CountOptions,
  type CountsQuery,
  type EventCounts,
} from './store/counts.js'
import { groupsQuery } from './grouping/group-options.js'
import { groupEvents } from './grouping/groups.js'
import { type EventGroups, GROUP_OPTIONS, type GroupOptions } from './store/groups.js'
import { fromFirstVisible } from './counting/visible-span.js'
import { createListeners, type Handler } from './async/listeners.js'
import { AuditLogError, untilAborted } from './errors.js'
import type { AuditEvent } from './event/event.js'
import type { CustomTypes } from './event/custom-types.js'
import type { EventData, EventTypes } from './event/event-types.js'
import { explanationOf, type QueryExplanation } from './explaining/explanation.js'
import { publishQueries } from './explaining/query-channels.js'
import { createSlowQueries, readSlowQueryMs, type SlowQueries } from './explaining/slow-queries.js'
import { readCustomTypes } from './read-custom-types.js'
import { requireNode } from './store/node-version.js'
import { readOptions, readToken } from './store/consistency-token.js'
import { pagesOf } from './store/pages.js'
import { createTrace } from './store/trace.js'
import { readFailurePolicies } from './recording/failure-policy.js'
import type { EventQuery } from './filter/ast.js'
import { type QueryInput, toQuery } from './filter/query-input.js'
import { type SharedTail, sharedTail } from './tail/shared-tail.js'
import { newestCursor } from './tail/poll.js'
import {
  createTails,
  type EventTail,
  TAIL_OPTIONS,
  type Tails,
  type TailOptions,
} from './tail/tails.js'
import type { EventChange } from './tail/changes.js'
import { toImportedEvent } from './event/importing.js'
import type { JsonLimits } from './event/json.js'
import { linkRules, type LinkTable } from './event/links.js'
import {
  type HistoryEntry,
  historyOf,
  type HistoryOptions,
  HISTORY_OPTIONS,
  historyQuery,
  type HistoryResource,
  readResource,
} from './history/history.js'
import type { Intents } from './recording/intents.js'
import { readLinks } from './recording/read-links.js'
import { createLossWarnings } from './recording/losses.js'
import { createLiveEvents, type LiveEvent, type LiveEvents } from './live/live-events.js'
import type { AuditLogStats } from './recording/outcomes.js'
import { withOwnTypes } from './recording/own-event-types.js'
import { defaultRecorderOptions } from './recording/queue.js'
import type { Damage } from './store/damage.js'
import type { EventJournal } from './store/journal.js'
import {
  REBUILD_OPTIONS,
  type RebuildOptions,
  type Verification,
  VERIFY_OPTIONS,
  type VerifyOptions,
} from './store/verification.js'
import {
  type EventPage,
  type EventStore,
  type ImportResult,
  LIST_OPTIONS,
  type ListOptions,
  READ_OPTIONS,
  type ReadOptions,
  readTuning,
  WAIT_OPTIONS,
  type WaitOptions,
} from './store/store.js'
import { createUndelivered } from './subscriptions/undelivered.js'
import type { Subscriptions } from './subscriptions/methods.js'
import { createSubscriptions } from './subscriptions/subscriptions.js'
import type { ThrottlePeriods } from './recording/throttle-rules.js'
import { systemClock } from './event/timestamp.js'
import { checkOptions, requireOptions } from './options.js'
import { defineEventTypes } from './define-event-types.js'
import { warn } from './async/warn.js'

const NO_DATA = {}
const checkFor =
  (names: Parameters<typeof checkOptions>[1], method: string) =>
  (options: unknown): void =>
    checkOptions(options, names, method)
const KNOWN: CallKind = { mustBeKnown: true, check: checkFor(RECORD_OPTIONS, 'record') }
const ANY_TYPE: CallKind = { check: checkFor(RECORD_SYSTEM_OPTIONS, 'recordSystem') }
const CHANGE: CallKind = {
  mustBeKnown: true,
  check: checkFor(RECORD_CHANGE_OPTIONS, 'recordChange'),
}
const LIVE: CallKind = {
  mustBeKnown: true,
  live: true,
  check: checkFor(RECORD_LIVE_OPTIONS, 'recordLive'),
}
const CUSTOM: CallKind = {
  isCustom: true,
  check: checkFor(RECORD_CUSTOM_OPTIONS, 'recordCustom'),
}

/** How the calls of a log make their drafts. */
const draftsOf = (
  { store, strict = false, resolveSource, random }: AuditLogOptions<EventTypes>,
  { limits, links }: Pick<AuditLog, 'limits' | 'links'>,
): Drafts =>
  createDrafts({
    strict,
    limits,
    links,
    resolveSource,
    random,
    keep: readTuning(store).appendsText ? 'text' : 'copy',
  })

/**
 * An audit log on a store: `record` events, `list` them.
 *
 * All methods reject only with {@link AuditLogError}.
 */
export class AuditLog<
  const Types extends EventTypes = EventTypes,
  const Links extends LinkTable = LinkTable,
> {
  /** The registry: the given types and those that the log itself records. */
  readonly types: Types
  /** Labels and sentences of custom events: the option `customTypes`. */
  readonly customTypes: CustomTypes
  /** The link attributes: the option `links`. */
  readonly links: LinkTable
  readonly store: EventStore
  /** The cleaning rules. */
  readonly cleaning: Cleaning
  /** Sends matching events to channels. */
  readonly subscriptions: Subscriptions
  /** Limits of one event's attributes, with defaults. */
  readonly limits: JsonLimits
  readonly #calls: Calls
  readonly #live: LiveEvents
  readonly #sharedTail: SharedTail
  readonly #tails: Tails
  readonly #listeners = createListeners<AuditLogEvents>()
  /** Queries of the store. Slow ones are reported. */
  readonly #queries: SlowQueries
  readonly #journal: EventJournal | undefined
  readonly #ageClock: AgeClock
  readonly #reports: ReturnType<typeof reportClock>
  #closed: Promise<void> | undefined

  constructor(options: AuditLogOptions<Types, Links>) {
    requireNode()
    checkAuditLogOptions(options)
    const { journal } = options
    const store = readStore(options)
    this.types = withOwnTypes(defineEventTypes(options.types))
    this.customTypes = readCustomTypes(options.customTypes)
    this.links = readLinks(options.links, 'AuditLog')
    this.store = store
    this.limits = readLimits(options.limits)
    const waiting = positive(defaultRecorderOptions, options.waiting, 'waiting')
    const ownClock = systemClock()
    const now = store.clock ?? guardedClock(ownClock, createClockGuard(ownClock.monotonic))
    const queries = createSlowQueries(
      store,
      readSlowQueryMs(options.slowQueryMs),
      () => this.#listeners.has('slow-query'),
      (slow) => this.#listeners.emit('slow-query', slow),
    )
    this.#queries = publishQueries(this, queries)
    this.#sharedTail = sharedTail(store)
    this.#tails = createTails(this.#sharedTail)
    this.#live = createLiveEvents(store, this.limits, waiting)
    const warnOfLoss = createLossWarnings()
    const calls = createCalls({
      audit: this,
      store,
      types: this.types,
      drafts: draftsOf(options, this),
      limits: this.limits,
      periods: (options.throttles === undefined ? {} : options.throttles) as ThrottlePeriods,
      waiting,
      policyOf: readFailurePolicies(options.failurePolicy, journal !== undefined),
      journal,
      now,
      observer: {
        stored: (events) => this.#onStored(events),
        rejected: (type, error, isLost) => {
          if (isLost && !this.#listeners.has('rejected')) warnOfLoss(type, error)
          this.#listeners.emit('rejected', { type, error })
        },
        dropped: (type, error) => this.#listeners.emit('dropped', { type, error }),
      },
    })
    this.#calls = calls
    this.#journal = journal
    this.#ageClock = createAgeClock(store)
    this.#reports = this.#startReports()
    this.cleaning = createCleaning(
      {
        store,
        ageClock: this.#ageClock,
        record: (type, data) => calls.recordOwn(type, data),
        undelivered: createUndelivered(store, options.subscriptions?.visible),
        described: this,
        suppressedDraft: (counts) => calls.suppressedDraft(counts),
      },
      options.cleaning,
    )
    this.subscriptions = createSubscriptions(
      {
        audit: this,
        store,
        tail: this.#sharedTail,
        types: this.types,
        record: (type, data, given) => calls.record(type, data, given),
      },
      options.subscriptions,
    )
  }

  /** Reports damage and doubts of the clock as events, until the returned function is called. */
  #startReports(): ReturnType<typeof reportClock> {
    const { store } = this
    const endDamageReports = reportDamage(store, {
      damaged: (damage) => this.#onDamaged(damage),
      record: (data) => this.#calls.recordOwn('warn:audit_log:damage', data),
    })
    const clock = reportClock(
      store,
      (data) => this.#calls.recordOwn('warn:audit_log:clock', data),
      (doubt) => this.#ageClock.noteDoubt(doubt),
    )
    const end = (): void => {
      endDamageReports()
      clock.end()
    }
    return { end, settled: clock.settled }
  }

  /**
   * Intents, which are durable before something is done, and become exactly one event even if the process
   * ends. Every log records the events of intents that ended processes have left. Without intents in the store that costs one
   * read after the log is opened, and one a minute while this process stores events.
   */
  intents(): Intents<Types, Links> {
    this.#calls.intents.start()
    return this.#calls.intents
  }

  /**
   * Records a system event of a registered type. Resolves to the stored event once it is durable. It
   * resolves to `undefined` if the event is suppressed by a throttle, disabled by the type's `enabled`,
   * journalled or dropped by its failure policy, or part of a `transaction` of the host. If it rejects,
   * the event is not stored, except that after `OUTCOME_UNKNOWN` it may be; an event whose commit goes on after the deadline is removed
   * as soon as the store answers, and stays if the log is closed before. Codes: `UNKNOWN_EVENT_TYPE`,
   * `QUEUE_FULL`, `DEADLINE_EXCEEDED`, `ABORTED`, `STORE_FAILED`, `CLOSED`; in strict mode also `INVALID_DATA` and `INVALID_LINK`. The data is
   * copied before the call returns. Concurrent calls share a transaction.
   */
  record<Type extends keyof Types & string>(
    type: Type,
    data?: EventData<Types[Type], Links>,
    options?: RecordOptions,
  ): Promise<AuditEvent | undefined> {
    return this.#calls.record(type, data ?? NO_DATA, options, KNOWN)
  }

  /**
   * Records a system event whose type is only known at run time, such as one derived from the route of
   * a request. Like `record`, but the type need not be registered: any text of 1 to 255 characters is
   * valid, others reject with `INVALID_EVENT`.
   */
  recordSystem(
    type: string,
    data: object = {},
    options?: RecordSystemOptions,
  ): Promise<AuditEvent | undefined> {
    return this.#calls.record(type, data, options, ANY_TYPE)
  }

  /**
   * Records a custom event: `system` is false, and the caller chooses the type. Like `record`, but an
   * invalid link attribute rejects with `INVALID_LINK`, and an invalid type with `INVALID_EVENT`, both
   * with a pointer.
   *
   * With an `idempotencyKey`, calls of one user with the same key within 24 hours of the first one
   * resolve to one event, in any process; a call with another type or other data rejects with
   * `IDEMPOTENCY_CONFLICT`. The event takes its place in the order once the store has answered whether
   * the key is new. If the store does not answer, the call rejects under every failure policy, and can
   * be repeated.
   */
  recordCustom(
    type: string,
    data: object = {},
    options?: RecordCustomOptions,
  ): Promise<AuditEvent | undefined> {
    return this.#calls.record(type, data, options, CUSTOM)
  }

  /**
   * Records a change of something. Like `record`, with the attribute `changes`: the JSON Patch
   * (RFC 6902) operations that turn `before` into `after`, each with its `old_value`, so that
   * `filter[changes_path_eq]=/name` finds it. Pass `null` for `before` if it was created, and for
   * `after` if it was removed. Values under the keys of secrets are left out. Long values are cut, and
   * so are operations beyond the first 1000 (`changes_cut`).
   */
  recordChange(
    type: keyof Types & string,
    before: unknown,
    after: unknown,
    options?: RecordChangeOptions,
  ): Promise<AuditEvent | undefined> {
    const changed = { ...options?.data, ...changeData(before, after, this.limits) }
    return this.#calls.record(type, changed, options, CHANGE)
  }

  /**
   * Records a system event whose attributes change until it is closed, such as the log of a running
   * job. Otherwise like `record`. The event keeps its place in the order; readers get its attributes
   * as of the read. `await using live = await audit.recordLive(…)` closes it in any case.
   */
  async recordLive<Type extends keyof Types & string>(
    type: Type,
    data?: EventData<Types[Type], Links>,
    options?: Omit<RecordOptions, 'transaction'>,
  ): Promise<LiveEvent> {
    return this.#live.open(await this.#calls.record(type, data ?? NO_DATA, options, LIVE))
  }

  /**
   * The matching events, at most `limit` (default 10, maximum 1000): without sorts the newest ones,
   * oldest first; with sorts the first ones in that order. Rejects with the codes of `parseQuery`,
   * `QUERY_TIMEOUT` after the store's `queryTimeoutMs`, `ABORTED`, `STORE_FAILED`, `CLOSED`.
   */
  async list(query?: QueryInput, options?: ListOptions): Promise<EventPage> {
    checkOptions(options, LIST_OPTIONS, 'list')
    readToken(options?.consistencyToken)
    return this.#queries.list('list', toQuery(query), options)
  }

  /**
   * How `list` answers the query: the steps, the events that each of them read, and the time. Runs the
   * query as `list` does, and also asks the store for details. Rejects as `list` does.
   */
  async explain(query?: QueryInput, options: ReadOptions = {}): Promise<QueryExplanation> {
    checkOptions(options, READ_OPTIONS, 'explain')
    const parsed = toQuery(query)
    const trace = createTrace({ detailed: true })
    const start = performance.now()
    const page = await this.store
      .list(parsed, { ...readOptions(options), trace })
      .finally(() => trace.stop())
    const took_ms = performance.now() - start
    return explanationOf({ store: this.store.name, query: parsed, trace, page, took_ms })
  }

  /**
   * All matching events in pages of at most 1000, in constant memory. Without sorts the newest page
   * comes first, and each page has its oldest event first; with the sort `created_at asc` the oldest
   * page comes first. Other sorts reject with `INVALID_VALUE`. Events recorded meanwhile are left out,
   * or come last.
   */
  async *pages(
    query?: QueryInput,
    options?: ListOptions,
  ): AsyncGenerator<readonly AuditEvent[], void, void> {
    checkOptions(options, LIST_OPTIONS, 'pages')
    yield* this.#pages(toQuery(query), options)
  }

  #pages(
    query: EventQuery,
    options?: ListOptions,
  ): AsyncGenerator<readonly AuditEvent[], void, void> {
    readToken(options?.consistencyToken)
    const durable = { ...options, durable: true }
    return pagesOf((wanted) => this.#queries.list('pages', wanted, durable), query)
  }

  /**
   * The changes of a resource, oldest first, each with its event, its JSON Patch and the state after it:
   * `for await (const { event, state } of audit.history({ order_id: 'A-17' }))`. Reads the events that name the resource and
   * hold `changes`, or `before` and `after`. The state is known after an event that holds it whole or whose type ends
   * with `create`. It is unknown after an event that holds only a part of its change, or that does not fit the state
   * before it. Keeps one page of events and one state. Rejects with `INVALID_VALUE` and as `pages` does.
   */
  async *history(
    resource: HistoryResource,
    options: HistoryOptions = {},
  ): AsyncGenerator<HistoryEntry, void, void> {
    checkOptions(options, HISTORY_OPTIONS, 'history')
    const found = readResource(resource, linkRules(this.links))
    yield* historyOf(this.#pages(historyQuery(found, options), options), found)
  }

  /**
   * All matching events that become visible after the call, or after the time `after`, each once and
   * in the order of `created_at`: `for await (const event of audit.tail('filter[type_start]=error:'))`.
   * Waits for further events until the loop is left. Rejects with `ABORTED` once the signal aborts,
   * with `CLOSED` once the log is closed, and with the codes of `parseQuery` for an invalid query or
   * `after`. While the store fails, the tail retries without a time limit; only reading the start of a
   * tail without `after` must succeed at once. `limit` has no effect; sorts reject with
   * `INVALID_VALUE`. Imported events are not delivered, except those of another Daybook that are newer
   * than all events in the store.
   *
   * All tails and streams of a process share one query for new events, and the events themselves, which
   * are frozen. With many tails events may come up to 250 ms later. A slow tail holds one page in memory.
   * Tails that are far behind read from the store one after the other.
   */
  tail(query?: QueryInput, options?: TailOptions & { readonly changes?: false }): EventTail
  /**
   * With `changes` also the changes of the live events among them, within 250 ms: {@link EventChange}s
   * with the JSON Patch (RFC 6902) of the attributes. Changes in quick succession are merged. For
   * matching events that were open before, the first change has all attributes.
   */
  tail(query: QueryInput | undefined, options: TailOptions): EventTail<AuditEvent | EventChange>
  tail(query?: QueryInput, options: TailOptions = {}): EventTail<AuditEvent | EventChange> {
    const read = (): EventQuery => {
      checkOptions(options, TAIL_OPTIONS, 'tail')
      return toQuery(query)
    }
    return this.#tails.tail(read, Object(options) as TailOptions)
  }

  /**
   * Counts all matching events; sorts and limit have no effect. Returns the total and the counts by
   * level; on request also counts over time, the most frequent values of attributes, and the names of
   * the attributes. Figures that are not complete after 2 seconds, or `within`, are lower bounds: see `exact`.
   * The total does not depend on what else is asked for. Rejects with the codes of `parseQuery`, `INVALID_VALUE` for an invalid option,
   * `ABORTED`, `STORE_FAILED`, `CLOSED`.
   */
  async count(query?: QueryInput, options: CountOptions = {}): Promise<EventCounts> {
    checkOptions(options, COUNT_OPTIONS, 'count')
    const read = readOptions(options)
    const wanted = await fromFirstVisible(this.store, countsQuery(query, options), read)
    return this.#queries.count(wanted, read)
  }

  /**
   * Groups all matching events by the values of one or two attributes: the most frequent groups with their
   * counts, and on request their counts over time and percentiles of numbers. Sorts and limit have no effect.
   * Reads the matching events; counts of one attribute come from the index where it has them. After 2 seconds,
   * or `within`, the other figures are estimates from what was read, each with its error, and `exact` says so.
   * Rejects with the codes of `parseQuery`, `INVALID_VALUE` for an invalid option, `QUERY_TIMEOUT`, `ABORTED`,
   * `STORE_FAILED`, `CLOSED`.
   */
  async groups(query: QueryInput | undefined, options: GroupOptions): Promise<EventGroups> {
    requireOptions(options, GROUP_OPTIONS, 'groups')
    const read = readOptions(options)
    const log = {
      list: (wanted: EventQuery, listOptions: ListOptions) =>
        this.#queries.list('pages', wanted, listOptions),
      pages: (wanted: EventQuery, listOptions: ListOptions) => this.#pages(wanted, listOptions),
      count: (wanted: CountsQuery, countOptions: ReadOptions) =>
        this.#queries.count(wanted, countOptions),
    }
    return groupEvents(log, groupsQuery(query, options), read)
  }

  /**
   * A token for the state of the log at this moment. A read with the option `consistencyToken`, in this process or another,
   * never answers from an older state, also if it is given to a replica that lags, or after a failover. The `created_at` of an event
   * is a token too: of the state that has this event and all before it; and `'newest'`, of the newest state when the read begins. Asks the store, on Postgres its primary. Rejects
   * with `ABORTED`, `STORE_FAILED`, `CLOSED`.
   */
  async consistencyToken(options: WaitOptions = {}): Promise<string> {
    checkOptions(options, WAIT_OPTIONS, 'consistencyToken')
    if (this.store.consistencyToken) return this.store.consistencyToken(options)
    return newestCursor(this.store, options)
  }

  /** The event with this id, or `undefined`. Rejects with `INVALID_VALUE` for an id that is not a text. */
  async get(id: string, options?: ReadOptions): Promise<AuditEvent | undefined> {
    checkOptions(options, READ_OPTIONS, 'get')
    if (typeof id !== 'string')
      throw new AuditLogError('INVALID_VALUE', `id must be a text; it is ${inspect(id)}`)
    readToken(options?.consistencyToken)
    return this.store.get(id.toLowerCase(), options)
  }

  /**
   * Stores complete events with their own `id` (any UUID) and `created_at`, for migration and backfill:
   * all events of the call or none. They take their place in the past, and are not delivered to
   * listeners. An event that the store already has with the same content is skipped, so an import can be
   * repeated. Rejects with `INVALID_EVENT` for anything but a list and for the first invalid event, and with `IMPORT_CONFLICT` for
   * an id or a time of another event, or a time in the future; with `OUTCOME_UNKNOWN` if the connection to the server broke during the
   * commit and stays broken.
   */
  async importEvents(events: readonly AuditEvent[], options?: WaitOptions): Promise<ImportResult> {
    checkOptions(options, WAIT_OPTIONS, 'importEvents')
    if (!Array.isArray(events))
      throw new AuditLogError('INVALID_EVENT', `events must be a list; it is ${inspect(events)}`)
    const imported = events.map((event, index) => toImportedEvent(event, index, this.limits))
    return this.store.importEvents(imported, options)
  }

  /**
   * Reads all events, the index and the database's own structures, and returns each damaged place with
   * what depends on it. Takes about as long as reading the database twice; other calls continue
   * meanwhile. Each place is also reported in the same way as damage that a query finds. Rejects with
   * `INVALID_OPTION` if the store cannot verify, `ABORTED`, `STORE_FAILED`, `CLOSED`.
   */
  async verify(options: VerifyOptions = {}): Promise<Verification> {
    checkOptions(options, VERIFY_OPTIONS, 'verify')
    return this.#able('verify')(options)
  }

  /**
   * Builds the index anew from the events. Queries use the old index until the new one is complete; the
   * database needs room for both. `onProgress` is called some times each second. Resolves when that is done; an aborted signal ends the wait, not the work.
   * Rejects with `INVALID_OPTION` if the store cannot do that, `READ_ONLY`, `ABORTED`, `STORE_FAILED`, `CLOSED`.
   */
  async rebuildIndex(options: RebuildOptions = {}): Promise<void> {
    checkOptions(options, REBUILD_OPTIONS, 'rebuildIndex')
    return this.#able('rebuildIndex')(options)
  }

  #able<Name extends 'verify' | 'rebuildIndex'>(name: Name): NonNullable<EventStore[Name]> {
    const method = this.store[name]
    if (!method)
      throw new AuditLogError('INVALID_OPTION', `the ${this.store.name} store has no ${name}`)
    return method.bind(this.store) as NonNullable<EventStore[Name]>
  }

  on<Name extends keyof AuditLogEvents>(name: Name, handler: Handler<AuditLogEvents[Name]>): void {
    this.#listeners.on(name, handler)
  }

  off<Name extends keyof AuditLogEvents>(
    name: Name,
    handler?: Handler<AuditLogEvents[Name]>,
  ): void {
    this.#listeners.off(name, handler)
  }

  /** Counts of the calls made so far; exact at every moment. */
  stats(): AuditLogStats {
    return this.#calls.stats()
  }

  /**
   * The condition of the log for probes: whether the store answers, and what needs attention. Asks the store
   * once. Never rejects for a store that fails or does not answer within `timeoutMs`, as that is the result;
   * rejects with `INVALID_OPTION`.
   */
  health(options: HealthOptions = {}): Promise<AuditHealth> {
    const { store } = this
    const waitingRules = (given: WaitOptions) => readWaitingRules(store, given)
    const sources = { store, journal: this.#journal, outage: this.#calls.outage, waitingRules }
    return checkHealth(sources, options)
  }

  /**
   * Resolves when all calls made before are settled and, if the store is available, the counts of held
   * back calls are stored. Rejects only with `ABORTED`.
   */
  async flush(options?: WaitOptions): Promise<void> {
    checkOptions(options, WAIT_OPTIONS, 'flush')
    const flushed = this.#reports.settled().then(() => this.#calls.flush())
    return untilAborted(flushed, options?.signal)
  }

  /**
   * Accepts the clock at once after it has jumped ahead by more than 30 days. Without this call, new
   * events get the time before the jump plus the time since, until the jump has lasted for 10 minutes.
   * The time of events never goes back, so call it only if the clock is right. For the times of events it affects
   * this process only. Cleaning rules by age that wait for the clock no longer wait, in any process on the store.
   */
  acceptClock(): void {
    this.store.acceptClock?.()
    this.#ageClock.accept()
  }

  /**
   * Rejects further calls with `CLOSED`, waits for those made before, closes open live events as
   * unfinished, and closes store and journal. Idempotent. An aborted signal ends the wait, not the
   * closing.
   */
  close(options?: WaitOptions): Promise<void> {
    try {
      checkOptions(options, WAIT_OPTIONS, 'close')
    } catch (error) {
      return Promise.reject(error)
    }
    this.#closed ??= this.#end()
    return untilAborted(this.#closed, options?.signal)
  }

  [ASYNC_DISPOSE](): Promise<void> {
    return this.close()
  }

  async #end(): Promise<void> {
    this.#calls.refuseNew()
    this.#reports.end()
    try {
      // They may still record. The store is closed even if one of them fails.
      await Promise.allSettled([
        this.cleaning.close(),
        this.#ageClock.settled(),
        this.#reports.settled(),
        this.subscriptions.close(),
        this.#live.close(),
      ])
      await this.#calls.close()
      await this.store.close()
    } finally {
      this.#sharedTail.wake()
    }
  }

  #onStored(events: readonly AuditEvent[]): void {
    if (events[0]) this.#ageClock.noteStored(events[0].created_at)
    this.#sharedTail.stored(events)
    if (this.#listeners.has('recorded'))
      for (const event of events) this.#listeners.emit('recorded', event)
  }

  #onDamaged(damage: Damage): void {
    if (this.#listeners.has('damaged')) this.#listeners.emit('damaged', damage)
    else warn(damageText(damage))
  }
}
