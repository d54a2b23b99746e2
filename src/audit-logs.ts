import { ASYNC_DISPOSE } from './async/disposal.js'
import { inspect } from 'node:util'
import { pause } from './async/pause.js'
import { warnThrown } from './async/warn.js'
import { newSharedClock, shareClock } from './cleaning/age-clock.js'
import { readCleaning } from './cleaning/cleaning.js'
import type { CleaningOptions } from './cleaning/rule.js'
import { AuditLog } from './audit-log.js'
import {
  type AuditLogOptions,
  readShared,
  SHARED_OPTIONS,
  type SharedOptions,
  untilClosed,
} from './audit-log-options.js'
import { countsQuery } from './counting/count-options.js'
import { AuditLogError, throwIfAborted } from './errors.js'
import type { CustomTypes } from './event/custom-types.js'
import type { EventTypes } from './event/event-types.js'
import type { JsonLimits } from './event/json.js'
import type { LinkTable } from './event/links.js'
import type { LedgerOptions } from './ledger/options.js'
import { type QueryInput, toQuery } from './filter/query-input.js'
import { NO_SEALED_NAMES } from './filter/sealed-names.js'
import { groupsQuery } from './grouping/group-options.js'
import type { HistoryResource } from './history/history.js'
import { countAcross, type CountsContext } from './logs/count-across.js'
import { groupsAcross } from './logs/groups-across.js'
import {
  historyAcross,
  type LogHistoryEntry,
  LOGS_HISTORY_OPTIONS,
  type LogsHistoryOptions,
} from './logs/history-across.js'
import {
  listAcross,
  LOGS_LIST_OPTIONS,
  type LogsListOptions,
  type LogsPage,
} from './logs/list-across.js'
import { type LogEvent, LOGS_OPTIONS, type LogsOptions } from './logs/named-logs.js'
import { type Closable, OpenLogs } from './logs/open-logs.js'
import { LOGS_PAGES_OPTIONS, type LogsPagesOptions, pagesAcross } from './logs/pages-across.js'
import { LOGS_RANGE_OPTIONS, LOGS_UNTIL_OPTIONS } from './logs/range.js'
import type { OwnEvents } from './recording/own-events.js'
import { startRounds } from './logs/rounds.js'
import { createLogsTail, type LogsTail } from './logs/logs-tail.js'
import {
  currentCursor,
  LOGS_TAIL_OPTIONS,
  type LogsTailOptions,
  type OpenLogsTail,
  openTail,
} from './logs/tail-across.js'
import {
  type LogsCountOptions,
  type LogsGroupOptions,
  type LogsRestriction,
  restrictLogs,
  type RestrictedLogs,
} from './restricted-logs.js'
import type { EventCounts } from './store/counts.js'
import type { EventGroups } from './store/groups.js'
import type { EventJournal } from './store/journal.js'
import { checkKey, type KeysOptions, type LogStores } from './store/log-stores.js'
import { type EventStore, WAIT_OPTIONS, type WaitOptions } from './store/store.js'
import { readSubscriptions, type SubscriptionsOptions } from './subscriptions/subscriptions.js'
import { checkOptions, type OptionNames, requireOptions } from './options.js'

export interface AuditLogsOptions<
  Types extends EventTypes,
  Links extends LinkTable = LinkTable,
> extends SharedOptions<Types, Links> {
  /**
   * Opens the stores of the logs: `sqliteLogs`, `postgresLogs`, `memoryLogs` or an own implementation. `close` closes
   * it.
   */
  readonly stores: LogStores
  /**
   * The cleaning rules of all logs, or a function that returns the rules of one log, for example with its own
   * archive.
   */
  readonly cleaning?: CleaningOptions | ((key: string) => CleaningOptions) | undefined
  /**
   * The subscriptions of all logs, or a function that returns the subscriptions of one log, for example with channels
   * that know its key.
   */
  readonly subscriptions?:
    | SubscriptionsOptions
    | ((key: string) => SubscriptionsOptions)
    | undefined
  /**
   * Returns the ledger of a log, with an origin and a key of its own; `undefined` for a log without one. A log is sealed while it is open, at intervals of a quarter of
   * `idleMs`, and before it is closed because it is not used. `verify` and `anchors` are not allowed. @default none
   */
  readonly ledger?: ((key: string) => LedgerOptions | undefined) | undefined
  /** The journal of a log, for the failure policy `queue`. With it, a log that was used stays in memory. @default none */
  readonly journal?: ((key: string) => EventJournal) | undefined
  /** Called with each new log object, for example to add listeners. Must not throw. @default nothing */
  readonly onLog?: ((log: AuditLog<Types, Links>, key: string) => void) | undefined
  /**
   * Number of logs that stay open, at least 1. Beyond this number, logs that are not in use are closed, the least
   * recently used first. A log is in use while calls are in progress, and while it has tails, streams or live events.
   * @default 100
   */
  readonly maxOpen?: number | undefined
  /** A log that is not in use for this many milliseconds is closed, at least 100. The next call opens it again. @default 30000 */
  readonly idleMs?: number | undefined
  /**
   * Minimum interval in milliseconds at which each log that this process does not use is opened for its scheduled
   * cleaning rules and its channels; 1000 or more. With `false`, only other processes do this work. @default 600000
   */
  readonly roundMs?: number | false | undefined
}

const AUDIT_LOGS_OPTIONS: OptionNames<AuditLogsOptions<EventTypes>> = {
  stores: true,
  ...SHARED_OPTIONS,
  cleaning: true,
  subscriptions: true,
  ledger: true,
  journal: true,
  onLog: true,
  maxOpen: true,
  idleMs: true,
  roundMs: true,
}

type Names = Parameters<typeof checkOptions>[1]

const DEFAULT_MAX_OPEN = 100
const DEFAULT_IDLE_MS = 30_000
const DEFAULT_ROUND_MS = 600_000
const MIN_IDLE_MS = 100
const MIN_ROUND_MS = 1000
/** Longest time that a log which is not in use stays open for its deliveries, in milliseconds. */
const DELIVERY_MS = 10_000
const DELIVERY_CHECK_MS = 250
const DEFAULT_KEYS = 100
const MAX_KEYS = 1000

/** States of subscriptions for which no delivery is expected soon. */
const SETTLED: ReadonlySet<string> = new Set(['failing', 'paused', 'disabled', 'broken'])

function readWhole(name: string, value: number, min: number): number {
  if (Number.isInteger(value) && value >= min) return value
  throw new AuditLogError(
    'INVALID_OPTION',
    `${name} must be a whole number of at least ${min}; it is ${inspect(value)}`,
  )
}

/** The page of keys that `keys` returns. */
export interface LogKeysOptions extends WaitOptions {
  /** Keys after this one, in the order of code points. @default all */
  readonly after?: string | undefined
  /** 1 to 1000. @default 100 */
  readonly limit?: number | undefined
}

const KEYS_OPTIONS: OptionNames<LogKeysOptions> = { ...WAIT_OPTIONS, after: true, limit: true }

const LOGS_COUNT_OPTIONS: OptionNames<LogsCountOptions> = {
  ...LOGS_RANGE_OPTIONS,
  buckets: true,
  facets: true,
  top: true,
  attributes: true,
  within: true,
}

const LOGS_GROUP_OPTIONS: OptionNames<LogsGroupOptions> = {
  ...LOGS_UNTIL_OPTIONS,
  by: true,
  numbers: true,
  buckets: true,
  top: true,
  within: true,
}

/**
 * Audit logs by key, such as a tenant, a project or a region: on one Postgres cluster or several, in a folder of
 * SQLite files, or in memory. A log is opened when it is used and closed when it is not. All logs share the options.
 * `AuditLogs` also lists, counts, exports and follows several or all logs together.
 */
export class AuditLogs<
  const Types extends EventTypes = EventTypes,
  const Links extends LinkTable = LinkTable,
> {
  /** The registry of all logs: the given types and those that a log itself records. */
  readonly types: Types
  /** Labels and sentences of custom events: the option `customTypes`. */
  readonly customTypes: CustomTypes
  /** The link attributes of all logs: the option `links`. */
  readonly links: LinkTable
  /** Limits of one event's attributes, with defaults. */
  readonly limits: JsonLimits
  /** The events about themselves that the logs record. */
  readonly ownEvents: OwnEvents
  readonly #stores: LogStores
  readonly #open: OpenLogs<AuditLog<Types, Links>>
  readonly #context: CountsContext
  readonly #stopRounds: (() => Promise<void>) | undefined
  #closed: Promise<void> | undefined

  /** Throws `INVALID_OPTION`. */
  constructor(options: AuditLogsOptions<Types, Links>) {
    requireOptions(options, AUDIT_LOGS_OPTIONS, 'AuditLogs')
    const { stores, onLog, cleaning, subscriptions } = options
    const { maxOpen = DEFAULT_MAX_OPEN, idleMs = DEFAULT_IDLE_MS } = options
    if (typeof stores?.open !== 'function' || typeof stores.keys !== 'function')
      throw new AuditLogError(
        'INVALID_OPTION',
        'stores must open stores by key: sqliteLogs, postgresLogs or memoryLogs',
      )
    this.#stores = stores
    const shared = readShared<Types, Links>(options, options.journal !== undefined, 'AuditLogs')
    this.types = shared.types
    this.customTypes = shared.customTypes
    this.links = shared.links
    this.limits = shared.limits
    this.ownEvents = shared.ownEvents
    if (shared.ownEvents.runs)
      throw new AuditLogError(
        'INVALID_OPTION',
        'AuditLogs: ownEvents.runs is for a single log; logs of AuditLogs are opened and closed as they are used',
      )
    // Each log reads these options again. The check here lets the service fail at its start.
    if (cleaning !== undefined && typeof cleaning !== 'function')
      readCleaning(cleaning, NO_SEALED_NAMES)
    if (subscriptions !== undefined && typeof subscriptions !== 'function')
      readSubscriptions(subscriptions, NO_SEALED_NAMES)
    if (options.ledger !== undefined && typeof options.ledger !== 'function')
      throw new AuditLogError(
        'INVALID_OPTION',
        'AuditLogs: ledger must be a function, as each log has an origin and a key of its own',
      )
    const optionsOf = sharedOptions(options)
    const clock = newSharedClock()
    const open = (key: string, store: EventStore, journal?: EventJournal) => {
      shareClock(store, clock, key)
      const read = withoutBackground(optionsOf(key), store)
      return new AuditLog<Types, Links>({ ...read, ...(journal && { journal }) })
    }
    this.#open = new OpenLogs<AuditLog<Types, Links>>({
      stores,
      maxOpen: readWhole('maxOpen', maxOpen, 1),
      idleMs: readWhole('idleMs', idleMs, MIN_IDLE_MS),
      keepsAll: options.journal !== undefined,
      create(key, store) {
        const log = open(key, store, options.journal?.(key))
        onLog?.(log, key)
        return log
      },
      startBackground: (key, store) => startDeliveries(optionsOf(key), store),
    })
    const get = (key: string): AuditLog<Types, Links> => this.#open.get(key)
    this.#context = { stores, get, links: this.links, countOf: (key) => get(key).store }
    this.#stopRounds = roundsOf(options, (key, signal) =>
      this.#open.inBackground(key, async (store) => {
        await using log = open(key, store)
        await workOn(log, options.subscriptions !== undefined, signal)
      }),
    )
  }

  /**
   * Returns the log with this key. Creates the log if it does not exist. The same object is returned while anything
   * refers to it, so callers can keep it or call `log` again. The log opens its store when it is used. Closing the
   * object closes only this log. Throws `INVALID_VALUE` for a wrong key, `CLOSED`, and the errors of opening the
   * store; the next call tries again.
   */
  log(key: string): AuditLog<Types, Links> {
    return this.#open.get(key)
  }

  /** The log with this key, or `undefined` if there is none. Rejects with `INVALID_VALUE`, `ABORTED`, `STORE_FAILED`, `CLOSED`. */
  async find(key: string, options: WaitOptions = {}): Promise<AuditLog<Types, Links> | undefined> {
    this.#check(options, WAIT_OPTIONS, 'find')
    checkKey(key)
    return (await this.#stores.has(key, options)) ? this.log(key) : undefined
  }

  /**
   * The keys of the existing logs in the order of code points, at most `limit`. Rejects with `INVALID_VALUE`, `ABORTED`,
   * `STORE_FAILED`, `CLOSED`.
   */
  async keys(options: LogKeysOptions = {}): Promise<readonly string[]> {
    this.#check(options, KEYS_OPTIONS, 'keys')
    const { limit = DEFAULT_KEYS, ...given } = options
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_KEYS)
      throw new AuditLogError(
        'INVALID_VALUE',
        `limit must be a whole number from 1 to ${MAX_KEYS}; it is ${inspect(limit)}`,
        { parameter: 'limit' },
      )
    const wanted: KeysOptions = { ...given, limit }
    return this.#stores.keys(wanted)
  }

  /**
   * Lists at most `limit` matching events of the logs (default 10, maximum 1000). Without sorts, these are the newest
   * events, oldest first; with sorts, the first events in that order. Events that are equal in all sorts are ordered
   * by `created_at`, then by the key of their log. Reads 50 logs at a time. If one log fails, the call rejects with
   * its error, which names the log. Rejects with `UNKNOWN_LOG` for a log that does not exist, and as `list` of a log
   * does.
   */
  async list(query?: QueryInput, options: LogsListOptions = {}): Promise<LogsPage> {
    this.#check(options, LOGS_LIST_OPTIONS, 'list')
    return listAcross(this.#context, toQuery(query), options)
  }

  /**
   * All matching events of the logs in pages of at most 1000, by `created_at`, then by the key of their log.
   * Otherwise as `pages` of a log. Reads each event once. Keeps at most about 20,000 events in memory, or 10 of each
   * log. Events that are recorded during the call are left out or come last. Rejects as `list` does.
   */
  async *pages(
    query?: QueryInput,
    options: LogsPagesOptions = {},
  ): AsyncGenerator<readonly LogEvent[], void, void> {
    this.#check(options, LOGS_PAGES_OPTIONS, 'pages')
    yield* pagesAcross(this.#context, toQuery(query), options)
  }

  /**
   * Counts all matching events of the logs: the sums of their counts. A figure is exact if it is exact in each log. A
   * facet is exact only if, in addition, no log has more than 1000 values of it. `within` is the time of each log.
   * Rejects as `count` of a log does, and with `UNKNOWN_LOG`.
   */
  async count(query?: QueryInput, options: LogsCountOptions = {}): Promise<EventCounts> {
    this.#check(options, LOGS_COUNT_OPTIONS, 'count')
    const { visible: _visible, ...counting } = options
    return countAcross(this.#context, countsQuery(query, counting), options)
  }

  /**
   * Groups all matching events of the logs, as `groups` of one log does. Rejects as `groups` of a log does, and with
   * `UNKNOWN_LOG`.
   */
  async groups(query: QueryInput | undefined, options: LogsGroupOptions): Promise<EventGroups> {
    requireOptions(options, LOGS_GROUP_OPTIONS, 'groups')
    this.#check(options, LOGS_GROUP_OPTIONS, 'groups')
    const { visible: _visible, ...grouping } = options
    return groupsAcross(this.#context, groupsQuery(query, grouping), options)
  }

  /**
   * The changes of a resource whose events are in several logs, by `created_at`, then by the key of their log. Each
   * state follows from the previous change, in whichever log that is. Otherwise as `history` of a log. Rejects as
   * `history` of a log does, and with `UNKNOWN_LOG`.
   */
  async *history(
    resource: HistoryResource,
    options: LogsHistoryOptions = {},
  ): AsyncGenerator<LogHistoryEntry, void, void> {
    this.#check(options, LOGS_HISTORY_OPTIONS, 'history')
    yield* historyAcross(this.#context, resource, options)
  }

  /**
   * All matching events of the logs that become visible after the call, or after the `cursor`, each once. The events
   * of a log come in the order of `created_at`; events that are read together are in this order across logs, too.
   * Without `logs` it also follows logs that are created later, from their beginning. Up to 100 logs are followed at
   * once and stay open; events of further logs come up to some seconds later, because these logs are read 50 at a
   * time. Retries while a store fails. Rejects with `UNKNOWN_LOG`, `INVALID_VALUE`, and as `tail` of a log does.
   */
  tail(query?: QueryInput, options: LogsTailOptions = {}): LogsTail {
    return createLogsTail(
      () => {
        this.#check(options, LOGS_TAIL_OPTIONS, 'tail')
        return { context: this.#context, query: toQuery(query) }
      },
      Object(options) as LogsTailOptions,
    )
  }

  /**
   * A tail whose start is known, for servers that need the start before they respond. It yields events until the
   * signal aborts, so the caller must abort the signal. Rejects as `tail` does.
   */
  async follow(
    query: QueryInput | undefined,
    options: LogsTailOptions & { readonly signal: AbortSignal },
  ): Promise<OpenLogsTail> {
    this.#check(options, LOGS_TAIL_OPTIONS, 'follow')
    return openTail(this.#context, toQuery(query), options)
  }

  /**
   * The logs as one reader may see them, for code that answers to users: with the filter `visible` of each log, and without the
   * attributes in `conceal`. A query that names a concealed attribute rejects with `UNKNOWN_ATTRIBUTE`. `exportEventsOfLogs` takes the
   * result, too. Throws `INVALID_OPTION` for an invalid restriction and an empty one. A `visible` that throws, or returns an invalid filter, rejects the call.
   */
  restricted(restriction: LogsRestriction): RestrictedLogs {
    return restrictLogs(this, restriction)
  }

  /**
   * The cursor of the present. A tail from this cursor yields the events that become visible after the call. A
   * reading call with this cursor as `until` leaves these events out. Rejects with `UNKNOWN_LOG`, and as `list` of a
   * log does.
   */
  async cursor(options: LogsOptions = {}): Promise<string> {
    this.#check(options, LOGS_OPTIONS, 'cursor')
    return currentCursor(this.#context, options)
  }

  /** Number of logs that are open in this process. */
  get openCount(): number {
    return this.#open.openCount
  }

  /**
   * Closes all logs, also logs that are being opened, after the calls in progress. Then closes the shared connections
   * of the stores. Idempotent. An aborted signal ends the wait, not the closing.
   */
  close(options?: WaitOptions): Promise<void> {
    return untilClosed(options, () => (this.#closed ??= this.#end()))
  }

  [ASYNC_DISPOSE](): Promise<void> {
    return this.close()
  }

  #check(options: WaitOptions | undefined, names: Names, method: string): void {
    checkOptions(options, names, method)
    if (this.#closed) throw new AuditLogError('CLOSED', 'the audit logs are closed')
    throwIfAborted(options?.signal)
  }

  async #end(): Promise<void> {
    await this.#stopRounds?.()
    await this.#open.close()
    await this.#stores.close()
  }
}

/** The options of one log, without its store. */
type LogOptions<Types extends EventTypes, Links extends LinkTable> = Omit<
  AuditLogOptions<Types, Links>,
  'store' | 'journal'
>

const valueOf = <Value extends object>(
  given: Value | ((key: string) => Value) | undefined,
  key: string,
): Value | undefined => (typeof given === 'function' ? given(key) : given)

/** Returns a function that returns the options of a log. */
function sharedOptions<const Types extends EventTypes, const Links extends LinkTable>(
  options: AuditLogsOptions<Types, Links>,
): (key: string) => LogOptions<Types, Links> {
  const { stores: _stores, maxOpen: _max, idleMs: _idle, roundMs: _round, ...others } = options
  const { journal: _journal, onLog: _onLog, cleaning, subscriptions, ledger, ...shared } = others
  return (key) => {
    const [rules, channels] = [valueOf(cleaning, key), valueOf(subscriptions, key)]
    return {
      ...shared,
      ...(rules && { cleaning: rules }),
      ...(channels && { subscriptions: channels }),
      ...(ledger && { ledger: ledgerOf(ledger(key)) }),
    }
  }
}

/** A timer for each log would keep all of them open. */
function ledgerOf(ledger: LedgerOptions | undefined): LedgerOptions | undefined {
  if (ledger?.verify === undefined && ledger?.anchors === undefined) return ledger
  throw new AuditLogError(
    'INVALID_OPTION',
    'ledger.verify and ledger.anchors are for a single log; verify the logs of AuditLogs one by one',
  )
}

/** `undefined` if there is nothing to do in rounds. */
function roundsOf<const Types extends EventTypes, const Links extends LinkTable>(
  options: AuditLogsOptions<Types, Links>,
  turn: (key: string, signal: AbortSignal) => Promise<void>,
): (() => Promise<void>) | undefined {
  const { stores, roundMs = DEFAULT_ROUND_MS, cleaning, subscriptions, readOnly } = options
  if (roundMs === false || readOnly || (!cleaning && !subscriptions)) return undefined
  return startRounds({
    stores,
    everyMs: readWhole('roundMs', roundMs, MIN_ROUND_MS),
    turn,
    onError: warnThrown,
  })
}

/** The options of a log that starts nothing by itself: no schedule, no deliveries. */
const withoutBackground = <const Types extends EventTypes, const Links extends LinkTable>(
  options: LogOptions<Types, Links>,
  store: EventStore,
): AuditLogOptions<Types, Links> => ({
  ...options,
  store,
  ...((options.readOnly ?? store.readOnly)
    ? {}
    : { cleaning: { rules: [], ...options.cleaning, scheduled: false } }),
  ...(options.subscriptions && { subscriptions: { ...options.subscriptions, deliver: false } }),
})

/** Delivers the events of an open log, if it has channels. */
function startDeliveries<const Types extends EventTypes, const Links extends LinkTable>(
  options: LogOptions<Types, Links>,
  store: EventStore,
): Closable | undefined {
  const { subscriptions } = options
  if (!subscriptions || options.readOnly || subscriptions.deliver === false) return undefined
  return new AuditLog({
    ...withoutBackground(options, store),
    ledger: undefined,
    subscriptions: { ...subscriptions, deliver: true },
  })
}

/** Runs the cleaning rules of a log that are due, and waits a while until its channels have its events. */
async function workOn(
  log: Pick<AuditLog, 'cleaning' | 'subscriptions'>,
  delivers: boolean,
  signal: AbortSignal,
): Promise<void> {
  await log.cleaning.runDue({ signal })
  const end = performance.now() + DELIVERY_MS
  while (delivers && performance.now() < end && !signal.aborted) {
    const found = await log.subscriptions.status({ signal })
    if (found.every(({ state, lag_ms }) => lag_ms === 0 || SETTLED.has(state))) return
    await pause(DELIVERY_CHECK_MS, signal, false)
  }
}
