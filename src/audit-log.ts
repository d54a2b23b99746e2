import { ASYNC_DISPOSE } from './async/disposal.js'
import type { Handler } from './async/listeners.js'
import { type AuditLogOptions, readAuditLogOptions, untilClosed } from './audit-log-options.js'
import type { Cleaning } from './cleaning/cleaning.js'
import { AuditLogError, untilAborted } from './errors.js'
import { changeData } from './event/changes.js'
import type { CustomTypes } from './event/custom-types.js'
import type { AuditEvent } from './event/event.js'
import type { EventData, EventTypes, ReasonedTypes, UnreasonedTypes } from './event/event-types.js'
import { toImportedEvents } from './event/importing.js'
import type { JsonLimits } from './event/json.js'
import { announcements, IMPORT } from './ledger/imports.js'
import type { Ledger } from './ledger/ledger.js'
import { linkRules, type LinkTable } from './event/links.js'
import { type Features, startFeatures } from './features.js'
import { compileFilter } from './filter/evaluate.js'
import { type HistoryResource, identityOf } from './history/history.js'
import { type SubjectRead, subjectReadsOf, subjectReadsQuery } from './history/subject-reads.js'
import type { AuditHealth, HealthOptions } from './health/health.js'
import type { LiveEvent } from './live/live-events.js'
import { type AuditLogEvents, createLogEvents, type LogEvents } from './log-events.js'
import { checkOptions } from './options.js'
import type {
  EraseOptions,
  Erasure,
  EventsErasure,
  EventsToErase,
  SubjectErasure,
} from './privacy/erase-options.js'
import type { SubjectOption } from './privacy/subject-option.js'
import { LogReader } from './reading/log-reader.js'
import { restrictLog, type RestrictedLog, type Restriction } from './restricted-log.js'
import { sealImported } from './privacy/sealed-imports.js'
import { createSealing, type Sealing } from './privacy/sealing.js'
import { CALL_KINDS } from './recording/call.js'
import { callContext } from './recording/call-context.js'
import { callKey, KnownCollapse } from './recording/collapse-rules.js'
import { type Calls, createCalls } from './recording/calls.js'
import type { Intents } from './recording/intents.js'
import type { OwnEvents } from './recording/own-events.js'
import type { AuditLogStats } from './recording/outcomes.js'
import {
  READ_RECORD_OPTIONS,
  type ReadRecordOptions,
  type RecordChangeOptions,
  type RecordCustomOptions,
  type RecordOptions,
  type RecordSystemOptions,
} from './recording/record-options.js'
import { NEWEST, readToken } from './store/consistency-token.js'
import {
  type ImportResult,
  READ_OPTIONS,
  type ReadOptions,
  WAIT_OPTIONS,
  type WaitOptions,
} from './store/store.js'
import type { Subscriptions } from './subscriptions/methods.js'

const NO_DATA = {}
const READ = 'api:records:read'
const READ_WINDOW_MS = 3_600_000

/**
 * An audit log on a store: `record` events, `list` them.
 *
 * All methods reject only with {@link AuditLogError}.
 */
export class AuditLog<
  const Types extends EventTypes = EventTypes,
  const Links extends LinkTable = LinkTable,
> extends LogReader {
  /** The registry: the given types and those that the log itself records. */
  readonly types: Types
  /** Labels and sentences of custom events: the option `customTypes`. */
  readonly customTypes: CustomTypes
  /** The cleaning rules. */
  readonly cleaning: Cleaning
  /** Sends matching events to channels. */
  readonly subscriptions: Subscriptions
  /** Proves that events were not changed: the option `ledger`. Without it, only `status` works. */
  readonly ledger: Ledger
  /** Limits of one event's attributes, with defaults. */
  readonly limits: JsonLimits
  /** The events about itself that the log records. */
  readonly ownEvents: OwnEvents
  readonly #calls: Calls
  /** Encrypts personal values: the option `privacy`. */
  readonly #sealing: Sealing | undefined
  readonly #features: Features
  readonly #events: LogEvents
  /** True for a log that has a ledger, or will have one soon. */
  readonly #hasLedger: boolean
  #closed: Promise<void> | undefined

  constructor(options: AuditLogOptions<Types, Links>) {
    const read = readAuditLogOptions(options)
    const events = createLogEvents()
    super(read, events)
    this.types = read.types
    this.customTypes = read.customTypes
    this.limits = read.limits
    this.ownEvents = read.ownEvents
    this.#events = events
    this.#hasLedger = read.ledger !== undefined
    // The journal may be replayed before a feature refuses its options. Then `#features` is not set.
    const stored = (given: readonly AuditEvent[]): void => this.#features?.stored(given)
    const sealing = read.privacy && createSealing(read.privacy, new Map(Object.entries(this.types)))
    const calls = createCalls({ ...read, audit: this, observer: { ...events, stored }, sealing })
    this.#sealing = sealing
    this.#calls = calls
    this.#features = startFeatures({ ...read, audit: this, calls, events })
    this.cleaning = this.#features.cleaning
    this.subscriptions = this.#features.subscriptions
    this.ledger = this.#features.ledger
  }

  /**
   * Intents. An intent is durable before the work begins, and becomes exactly one event even if the process ends.
   * Every log also records the events of intents that ended processes have left. Without intents in the store, this
   * costs one read after the log is opened, and one read a minute while this process stores events.
   */
  intents(): Intents<Types, Links> {
    this.#calls.intents.start()
    return this.#calls.intents
  }

  /** As the other call, for a type that requires a reason. */
  record<Type extends ReasonedTypes<Types>>(
    type: Type,
    data: EventData<Types[Type], Links> | undefined,
    options: RecordOptions & { readonly reason: string },
  ): Promise<AuditEvent | undefined>
  /**
   * Records a system event of a registered type. Resolves to the stored event once it is durable. It
   * resolves to `undefined` if the event is suppressed by a throttle, disabled by the type's `enabled`,
   * journalled or dropped by its failure policy, or part of a `transaction` of the host. If it rejects,
   * the event is not stored, except that after `OUTCOME_UNKNOWN` it may be; an event whose commit goes on after the deadline is removed
   * as soon as the store answers, and stays if the log is closed before. Codes: `UNKNOWN_EVENT_TYPE`,
   * `QUEUE_FULL`, `DEADLINE_EXCEEDED`, `ABORTED`, `STORE_FAILED`, `CLOSED`, and `INVALID_DATA` without a reason
   * that the type requires; in strict mode `INVALID_DATA` for other data too, and `INVALID_LINK`. The data is
   * copied before the call returns. Concurrent calls share a transaction.
   */
  record<Type extends UnreasonedTypes<Types>>(
    type: Type,
    data?: EventData<Types[Type], Links>,
    options?: RecordOptions,
  ): Promise<AuditEvent | undefined>
  record(type: string, data?: object, options?: RecordOptions): Promise<AuditEvent | undefined> {
    return this.#calls.record(type, data ?? NO_DATA, options, CALL_KINDS.record)
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
    return this.#calls.record(type, data, options, CALL_KINDS.recordSystem)
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
    return this.#calls.record(type, data, options, CALL_KINDS.recordCustom)
  }

  /** As the other call, for a type that requires a reason. */
  recordChange(
    type: ReasonedTypes<Types>,
    before: unknown,
    after: unknown,
    options: RecordChangeOptions & { readonly reason: string },
  ): Promise<AuditEvent | undefined>
  /**
   * Records a change of something. Like `record`, with the attribute `changes`: the JSON Patch
   * (RFC 6902) operations that turn `before` into `after`, each with its `old_value`, so that
   * `filter[changes_path_eq]=/name` finds it. Pass `null` for `before` if it was created, and for
   * `after` if it was removed. Values under the keys of secrets are left out. Long values are cut, and
   * so are operations beyond the first 1000 (`changes_cut`).
   */
  recordChange(
    type: UnreasonedTypes<Types>,
    before: unknown,
    after: unknown,
    options?: RecordChangeOptions,
  ): Promise<AuditEvent | undefined>
  recordChange(
    type: string,
    before: unknown,
    after: unknown,
    options?: RecordChangeOptions,
  ): Promise<AuditEvent | undefined> {
    const changed = { ...options?.data, ...changeData(before, after, this.limits) }
    return this.#calls.record(type, changed, options, CALL_KINDS.recordChange)
  }

  /**
   * Records that the code reads a record, given as an API path or as link attributes: an event `api:records:read` with `access: 'read'`,
   * at once for the first read of the record by a user for a purpose. Further reads within an hour are counted, and become one event
   * then. Resolves and rejects as `record` does, to `undefined` if the read is counted; also with `INVALID_VALUE` for a wrong resource, and with
   * `INVALID_OPTION`. {@link subjectReads} returns who has read a record.
   */
  async read(
    resource: HistoryResource,
    options: ReadRecordOptions = {},
  ): Promise<AuditEvent | undefined> {
    checkOptions(options, READ_RECORD_OPTIONS, 'read')
    const { purpose, username, signal } = options
    if (purpose !== undefined && typeof purpose !== 'string')
      throw new AuditLogError('INVALID_OPTION', 'purpose must be a text')
    const isPath = typeof resource === 'string'
    const identity = identityOf(resource)
    const data = {
      ...(isPath ? NO_DATA : Object.fromEntries(identity)),
      access: 'read',
      ...(purpose !== undefined && { purpose }),
    }
    const source = isPath ? resource : undefined
    const user = callContext(username).username
    const collapse = new KnownCollapse(
      {
        type: READ,
        key: callKey([READ, user, source, data]),
        windowMs: READ_WINDOW_MS,
        rest: () => ({ username: user, source, data }),
      },
      () => ({ data, source }),
    )
    const given = { username: user, signal, source, collapse }
    return this.#calls.record(READ, NO_DATA, given, CALL_KINDS.recordSystem)
  }

  /**
   * The users who have read a resource, each with the first and the last time and the number of reads:
   * `await audit.subjectReads('/api/patients/17')`. Counts the events with `access: 'read'` whose source, or whose attributes, are those of
   * the resource, and reads of lists that named it, also reads that are still being counted. Those of other processes may
   * lack the last second: see `exact`. Reads the matching events, in pages, and the counts of all processes. Rejects with
   * `INVALID_VALUE` and as `pages` does.
   */
  async subjectReads(
    resource: HistoryResource,
    options: ReadOptions = {},
  ): Promise<readonly SubjectRead[]> {
    checkOptions(options, READ_OPTIONS, 'subjectReads')
    const query = subjectReadsQuery(resource, linkRules(this.links))
    const { consistencyToken } = options
    readToken(consistencyToken)
    // A count that is missing here has become an event, which the newest state has.
    const counted = await this.#calls.counted(options.signal)
    const found = this.pages(query, {
      ...options,
      consistencyToken: consistencyToken ?? NEWEST,
      personal: 'stored',
    })
    return subjectReadsOf(found, counted.filter(compileFilter(query.where)))
  }

  /**
   * The log as one reader may see it, for code that answers to users: only events that pass `visible`, without the attributes in
   * `conceal`, as the endpoints of `auditRoutes` do. A query that names a concealed attribute rejects with `UNKNOWN_ATTRIBUTE`. `exportEvents` takes
   * the result, too. Throws `INVALID_OPTION` for invalid names and without a restriction, and `INVALID_VALUE` for an invalid filter.
   */
  restricted(restriction: Restriction): RestrictedLog {
    return restrictLog(this, restriction)
  }

  /**
   * Removes whole events by their ids, as cleaning does, and everything else that the store keeps of them: for data that no type declares
   * as personal. Records `info:audit_log:erase`. Takes as long as `scrub` of the store: minutes for millions of events, and on SQLite it needs free space of twice the file. With a ledger, the removal is signed first, and only the process that seals the log may
   * erase (`SIGNER_REQUIRED`). Rejects with `HELD`, without a removal, if a hold of `cleaning` keeps one of the events; with `INVALID_VALUE` for anything but 1 to 1000 ids
   * and for a live event that is open; with `INVALID_OPTION`, `READ_ONLY`, `ABORTED`, `STORE_FAILED`, `CLOSED`. If the call fails or the process ends
   * after it has begun, another call or the next start of a log with `privacy` ends the erasure.
   */
  erase(events: EventsToErase, options: EraseOptions): Promise<EventsErasure>
  /**
   * Erases the data of a person: `await audit.erase({ customer: 'c17' }, { reason: 'request 4711', username: 'dpo' })`. Destroys the
   * key, so the values of personal attributes of all events are unreadable in the log, its archives and its backups, and records
   * `info:audit_log:erase` with the ref of the key, never with the person. Events, ids and proofs of the ledger stay. Other processes stop using the
   * key within 30 seconds. Later events of the person get a new key. A person without a key, such as one who was erased before, has
   * nothing to erase: then nothing is recorded, and `ref` is null.
   *
   * Rejects with `HELD`, without a change, if a hold of `cleaning` in this log keeps an event with data of the person; with `INVALID_VALUE` for a kind that no type declares;
   * with `INVALID_OPTION`, also without the option `privacy`; with `KEYS_UNAVAILABLE`, `READ_ONLY`, `ABORTED`, `CLOSED` and as `record`. If the call fails or the process ends
   * after the key was destroyed, the next call for the person or the next start of a log with these keys records the erasure, once. Costs a
   * few look-ups in the keys, a count over the index for each hold, and a commit.
   */
  erase(subject: SubjectOption, options: EraseOptions): Promise<SubjectErasure>
  erase(
    what: SubjectOption | EventsToErase,
    options: EraseOptions,
  ): Promise<SubjectErasure | EventsErasure> {
    return this.#features.erasing.erase(what, options)
  }

  /**
   * The erasures of the past, oldest first: when, by whom, why, how many events, and what is not complete yet. Those of persons come from the keys, so they need the option
   * `privacy`; those of events come from the log. Rejects with `KEYS_UNAVAILABLE`, `ABORTED`, `STORE_FAILED`, `CLOSED`.
   */
  erasures(options?: WaitOptions): Promise<readonly Erasure[]> {
    return this.#features.erasing.erasures(options)
  }

  /**
   * All events about a person, oldest first, with personal values in clear: those with data of the person, and those of the declared types that name
   * the person. Reads them in pages, in constant memory, as of the newest state. Rejects with `INVALID_VALUE` for a kind that no type declares, with
   * `INVALID_OPTION` without the option `privacy`, and with `KEYS_UNAVAILABLE`, `ABORTED`, `STORE_FAILED`, `CLOSED`.
   */
  subjectReport(
    subject: SubjectOption,
    options?: WaitOptions,
  ): AsyncGenerator<AuditEvent, void, void> {
    return this.#features.erasing.subjectReport(subject, options)
  }

  /**
   * Loads the keys of these persons, and makes those that are missing. For calls with `transaction`, which cannot wait for keys: await this method less than 30
   * seconds before. Rejects as `subjectReport` does, and with `READ_ONLY`.
   */
  loadKeys(subjects: readonly SubjectOption[], options?: WaitOptions): Promise<void> {
    return this.#features.erasing.loadKeys(subjects, options)
  }

  /** As the other call, for a type that requires a reason. */
  recordLive<Type extends ReasonedTypes<Types>>(
    type: Type,
    data: EventData<Types[Type], Links> | undefined,
    options: Omit<RecordOptions, 'transaction'> & { readonly reason: string },
  ): Promise<LiveEvent>
  /**
   * Records a system event whose attributes change until it is closed, such as the log of a running
   * job. Otherwise like `record`. The event keeps its place in the order; readers get its attributes
   * as of the read. `await using live = await audit.recordLive(…)` closes it in any case.
   */
  recordLive<Type extends UnreasonedTypes<Types>>(
    type: Type,
    data?: EventData<Types[Type], Links>,
    options?: Omit<RecordOptions, 'transaction'>,
  ): Promise<LiveEvent>
  async recordLive(
    type: string,
    data?: object,
    options?: Omit<RecordOptions, 'transaction'>,
  ): Promise<LiveEvent> {
    const event = await this.#calls.record(type, data ?? NO_DATA, options, CALL_KINDS.recordLive)
    return this.#features.live.open(event, this.types[type]?.reason === 'required')
  }

  /**
   * Stores complete events with their own `id` (any UUID) and `created_at`, for migration and backfill:
   * all events of the call or none. They take their place in the past, and are not delivered to
   * listeners. An event that the store already has with the same content is skipped, so an import can be
   * repeated. Rejects with `INVALID_EVENT` for anything but a list and for the first invalid event, and with `IMPORT_CONFLICT` for
   * an id or a time of another event, or a time in the future; with `OUTCOME_UNKNOWN` if the connection to the server broke during the
   * commit and stays broken. If the log has a ledger, an event `info:audit_log:import` announces the import first.
   */
  async importEvents(events: readonly AuditEvent[], options?: WaitOptions): Promise<ImportResult> {
    checkOptions(options, WAIT_OPTIONS, 'importEvents')
    const given = toImportedEvents(events, this.limits)
    const imported = this.#sealing ? await sealImported(this.#sealing, given, options) : given
    const announce = async (): Promise<void> => {
      for (const data of announcements(imported.map(({ event }) => event)))
        if (!(await this.#calls.recordOwn(IMPORT, data)))
          throw new AuditLogError('STORE_FAILED', 'the import could not be announced in the log')
    }
    const hasLedger = async (): Promise<boolean> =>
      this.#hasLedger || (await this.store.ledger?.state(options)) !== undefined
    const isAnnounced = await hasLedger()
    if (isAnnounced) await announce()
    const result = await this.store.importEvents(imported, options)
    // Another process may have begun the ledger meanwhile.
    if (!isAnnounced && (await hasLedger())) await announce()
    return result
  }

  on<Name extends keyof AuditLogEvents>(name: Name, handler: Handler<AuditLogEvents[Name]>): void {
    this.#events.on(name, handler)
  }

  off<Name extends keyof AuditLogEvents>(
    name: Name,
    handler?: Handler<AuditLogEvents[Name]>,
  ): void {
    this.#events.off(name, handler)
  }

  /** Counts of the calls made so far; exact at every moment. */
  stats(): AuditLogStats {
    return this.#calls.stats()
  }

  /**
   * Returns the condition of the log for probes: the state of the store, and everything that needs attention. Sends
   * one request to the store. A store that fails or does not answer within `timeoutMs` is a result, not a rejection.
   * Rejects only with `INVALID_OPTION`.
   */
  health(options: HealthOptions = {}): Promise<AuditHealth> {
    return this.#features.health(options)
  }

  /**
   * Resolves when all earlier calls are settled and, if the store is available, the counts of suppressed calls are
   * stored. Rejects only with `ABORTED`.
   */
  async flush(options?: WaitOptions): Promise<void> {
    checkOptions(options, WAIT_OPTIONS, 'flush')
    const flushed = this.#features.flush().then(() => this.#calls.flush())
    return untilAborted(flushed, options?.signal)
  }

  /**
   * Accepts the clock at once after it has jumped ahead by more than 30 days. Without this call, new events get the
   * time before the jump plus the time since, until the jump has lasted for 10 minutes. The time of events never goes
   * back, so call this method only if the clock is right. The times of events change only in this process. Cleaning
   * rules by age stop waiting for the clock in all processes on the store.
   */
  acceptClock(): void {
    this.store.acceptClock?.()
    this.#features.ageClock.accept()
  }

  /**
   * Rejects further calls with `CLOSED`, waits for earlier calls, closes open live events as unfinished, and closes
   * store and journal. Idempotent. An aborted signal ends the wait, not the closing.
   */
  close(options?: WaitOptions): Promise<void> {
    return untilClosed(options, () => (this.#closed ??= this.#end()))
  }

  [ASYNC_DISPOSE](): Promise<void> {
    return this.close()
  }

  async #end(): Promise<void> {
    this.#calls.refuseNew()
    try {
      // Features can still record events here. The store is closed even if a feature fails.
      await this.#features.close()
      await this.#calls.close(this.#features.last)
      await this.#features.end()
      await this.store.close()
    } finally {
      this.#features.tail.wake()
    }
  }
}
