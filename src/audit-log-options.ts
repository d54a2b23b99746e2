import type { Duration } from './event/duration.js'
import type { CleaningOptions } from './cleaning/rule.js'
import { AuditLogError } from './errors.js'
import type { AuditEvent } from './event/event.js'
import type { RandomBytes } from './event/event-id.js'
import type { CustomTypes } from './event/custom-types.js'
import type { EventTypes } from './event/event-types.js'
import type { SlowQuery } from './explaining/slow-queries.js'
import type { FailurePolicies, FailurePolicy } from './recording/failure-policy.js'
import type { EventJournal } from './store/journal.js'
import { defaultJsonLimits, type JsonLimits } from './event/json.js'
import type { LinkTable, ResolveSource } from './event/links.js'
import type { RecorderOptions } from './recording/queue.js'
import type { CallThrottle } from './recording/throttle-rules.js'
import { readOnlyStore } from './store/read-only.js'
import type { SubscriptionsOptions } from './subscriptions/subscriptions.js'
import type { Damage } from './store/damage.js'
import { type EventStore, WAIT_OPTIONS, type WaitOptions } from './store/store.js'
import { checkOptions, type OptionNames, requireOptions } from './options.js'

export interface AuditLogOptions<Types extends EventTypes, Links extends LinkTable = LinkTable> {
  /** The store of the events. `close` closes it. */
  readonly store: EventStore
  /**
   * Only reads: methods that write reject with `READ_ONLY`. Not together with `journal`, `cleaning` or `subscriptions`.
   * @default true for a store that is opened read-only, else false
   */
  readonly readOnly?: boolean
  /** The system event types that `record` takes, from `defineEventTypes`. */
  readonly types: Types
  /** Labels and sentences of custom events, such as those of other logs: see `daybook/presets`. Throws `INVALID_OPTION` for a wrong one. @default none */
  readonly customTypes?: CustomTypes | undefined
  /**
   * For tests: `record` rejects data keys that the type does not declare, and invalid link attributes,
   * instead of storing them. Where a type accepts any key, a data key that differs in one letter from a
   * known one causes a process warning. Known keys are the keys of the type, of its sentence and of every
   * type.
   * @default false
   */
  readonly strict?: boolean
  /**
   * The link attributes: names of attributes that identify resources, with the form of their values and the paths that become
   * sources of events, such as `{ attribute: 'order_id', kind: 'uuid', path: '/api/orders/{order_id}', rank: 1 }`. A custom event
   * with a value of another form is refused. Throws `INVALID_OPTION` for a wrong row. @default none
   */
  readonly links?: Links | undefined
  /** Replaces the paths that `links` gives, and may refuse links. */
  readonly resolveSource?: ResolveSource
  /** Limits of one event's attributes. */
  readonly limits?: Partial<JsonLimits>
  /** Limits of the events that wait for the store. */
  readonly waiting?: Partial<RecorderOptions>
  /**
   * Failure policies, for calls while the store fails or is too slow: one for all types, or by level and type.
   * @default 'block'
   */
  readonly failurePolicy?: FailurePolicy | FailurePolicies
  /** Holds the events of the policy `queue`, such as `sqliteJournal`. `close` closes it. */
  readonly journal?: EventJournal
  /**
   * Throttle periods by event type, a date-fns Duration or `false` for no throttle. They replace those
   * of the registry. A type that has no throttle in the registry gets one without a scope.
   */
  readonly throttles?: { readonly [Type in keyof Types]?: Duration | false }
  /** Rules that remove old events, and old data of the host: see {@link Cleaning}. */
  readonly cleaning?: CleaningOptions
  /** Channels, and subscriptions that send matching events to them: see {@link Subscriptions}. */
  readonly subscriptions?: SubscriptionsOptions
  /**
   * Queries that take at least this many milliseconds are reported as `slow-query`; 0 reports all.
   * @default none
   */
  readonly slowQueryMs?: number | undefined
  /** Source of the random bits of ids. @default `crypto.randomFillSync` */
  readonly random?: RandomBytes
}

/** The options that all logs of `AuditLogs` share. */
export const SHARED_OPTIONS: OptionNames<
  Omit<AuditLogOptions<EventTypes>, 'store' | 'journal' | 'cleaning' | 'subscriptions'>
> = {
  readOnly: true,
  types: true,
  customTypes: true,
  strict: true,
  links: true,
  resolveSource: true,
  limits: true,
  waiting: true,
  failurePolicy: true,
  throttles: true,
  slowQueryMs: true,
  random: true,
}

const AUDIT_LOG_OPTIONS: OptionNames<AuditLogOptions<EventTypes>> = {
  store: true,
  ...SHARED_OPTIONS,
  journal: true,
  cleaning: true,
  subscriptions: true,
}

/** Throws `INVALID_OPTION` for an unknown option, and without a store and types. */
export function checkAuditLogOptions(options: unknown): void {
  requireOptions(options, AUDIT_LOG_OPTIONS, 'AuditLog')
  const { store, journal } = options as {
    readonly store?: Partial<EventStore> | null
    readonly journal?: Partial<EventJournal> | null
  }
  if (typeof store?.append !== 'function')
    throw new AuditLogError(
      'INVALID_OPTION',
      'AuditLog: store must be a store, such as sqliteStore of daybook/sqlite',
    )
  if (journal !== undefined && typeof journal?.add !== 'function')
    throw new AuditLogError(
      'INVALID_OPTION',
      'AuditLog: journal must be a journal, such as sqliteJournal of daybook/sqlite',
    )
}

export interface RecordOptions extends WaitOptions {
  /** The requesting user; null if there is none. @default the user of the actor: see `withActor` */
  readonly username?: string | null | undefined
  /**
   * A handle on the store's database with an open transaction, which the event joins: a
   * better-sqlite3 `Database`, a `DatabaseSync` of `node:sqlite`, a `pg` client, or the result of a function of
   * `daybook/orm`. If the transaction commits, the event becomes visible within about a second;
   * if it rolls back, there is no event. The statement has been issued when the
   * call returns. The call resolves to `undefined` once the event is in the transaction, whether or not
   * that commits; listeners do not get the event. Rejects with `INVALID_OPTION` for anything but an
   * open handle on that database with an open transaction. A call that rejects has left nothing in the transaction: await it
   * before the commit. A synchronous transaction function cannot await it, and learns of the error too
   * late to roll back.
   */
  readonly transaction?: object | undefined
}

export const RECORD_OPTIONS: OptionNames<RecordOptions> = {
  username: true,
  transaction: true,
  ...WAIT_OPTIONS,
}

export interface RecordSystemOptions extends RecordOptions {
  /** A throttle of the call, unless the type has one. Rejects with `INVALID_OPTION` for an invalid period. */
  readonly throttle?: CallThrottle | undefined
}

export const RECORD_SYSTEM_OPTIONS: OptionNames<RecordSystemOptions> = {
  ...RECORD_OPTIONS,
  throttle: true,
}

export interface RecordCustomOptions extends RecordOptions {
  /**
   * Makes the call safe to repeat if its outcome is unknown: 1 to 255 visible ASCII characters. Keys of
   * different users are independent. Rejects with `INVALID_OPTION` for other values, and together with
   * a `transaction`.
   */
  readonly idempotencyKey?: string | undefined
}

export const RECORD_CUSTOM_OPTIONS: OptionNames<RecordCustomOptions> = {
  ...RECORD_OPTIONS,
  idempotencyKey: true,
}

export interface RecordChangeOptions extends RecordOptions {
  /** Further data of the event, such as links. */
  readonly data?: object | undefined
}

export const RECORD_CHANGE_OPTIONS: OptionNames<RecordChangeOptions> = {
  ...RECORD_OPTIONS,
  data: true,
}

export const RECORD_LIVE_OPTIONS: OptionNames<Omit<RecordOptions, 'transaction'>> = {
  username: true,
  ...WAIT_OPTIONS,
}

/** Events of `on`. Handlers run synchronously; if one throws, that is reported as `error`. */
export type AuditLogEvents = {
  /** An event became durable. Emitted in the order of `created_at`. */
  recorded: AuditEvent
  /**
   * A call of `record` or `recordCustom` was rejected. Without a handler, lost events cause a process
   * warning, once for each cause.
   */
  rejected: { readonly type: string; readonly error: AuditLogError }
  /** The event of a call was lost under the policy `drop`, because of this error. */
  dropped: { readonly type: string; readonly error: AuditLogError }
  /** A query took at least `slowQueryMs`. Emitted after its answer. */
  'slow-query': SlowQuery
  /**
   * Something stored is damaged; emitted once for each place. Without a handler it becomes a process warning.
   */
  damaged: Damage
  /** A handler threw. Without a handler for `error` it becomes a process warning. */
  error: unknown
}

/** The given options with defaults. Throws `INVALID_OPTION` unless all are whole numbers of at least 1; `where` names them. */
export function positive<Options extends object>(
  defaults: Options,
  given: Partial<Options> = {},
  where: string,
): Options {
  const names = Object.keys(defaults) as (keyof Options & string)[]
  checkOptions(given, Object.fromEntries(names.map((name) => [name, true as const])), where)
  const options = { ...defaults }
  for (const name of names) {
    const value: unknown = given[name]
    if (value === undefined) continue
    if (!Number.isInteger(value) || (value as number) < 1)
      throw new AuditLogError('INVALID_OPTION', `${name} must be a whole number of at least 1`)
    options[name] = value as Options[typeof name]
  }
  return options
}

/** The store of a log. Throws `INVALID_OPTION` for options that write to a log that only reads. */
export function readStore({
  store,
  readOnly = store.readOnly === true,
  journal,
  cleaning,
  subscriptions,
}: Pick<
  AuditLogOptions<EventTypes>,
  'store' | 'readOnly' | 'journal' | 'cleaning' | 'subscriptions'
>): EventStore {
  if (!readOnly) return store
  for (const [name, value] of Object.entries({ journal, cleaning, subscriptions }))
    if (value !== undefined)
      throw new AuditLogError('INVALID_OPTION', `a log that only reads takes no ${name}`)
  return store.readOnly ? store : readOnlyStore(store)
}

/** Throws `INVALID_OPTION` for limits out of range. */
export function readLimits(given: Partial<JsonLimits> | undefined): JsonLimits {
  const limits = positive(defaultJsonLimits, given, 'limits')
  if (limits.maxDepth > 64)
    throw new AuditLogError('INVALID_OPTION', 'maxDepth must be from 1 to 64')
  if (limits.maxBytes < 1024)
    throw new AuditLogError('INVALID_OPTION', 'maxBytes must be at least 1024')
  return limits
}
