import type { Duration } from './event/duration.js'
import type { CleaningOptions } from './cleaning/rule.js'
import { defineEventTypes } from './define-event-types.js'
import { AuditLogError, untilAborted } from './errors.js'
import type { RandomBytes } from './event/event-id.js'
import type { CustomTypes } from './event/custom-types.js'
import type { EventTypes } from './event/event-types.js'
import { readSlowQueryMs } from './explaining/slow-queries.js'
import { NO_SEALED_NAMES, sealedNames } from './filter/sealed-names.js'
import { readCustomTypes } from './read-custom-types.js'
import {
  type FailurePolicies,
  type FailurePolicy,
  readFailurePolicies,
} from './recording/failure-policy.js'
import { type PrivacyOptions, readPrivacy } from './privacy/options.js'
import { type OwnEventsOptions, readOwnEvents } from './recording/own-events.js'
import { withOwnTypes } from './recording/own-event-types.js'
import type { EventJournal } from './store/journal.js'
import { defaultJsonLimits, type JsonLimits } from './event/json.js'
import type { LinkTable, ResolveSource } from './event/links.js'
import { type LedgerOptions, readLedgerOptions } from './ledger/options.js'
import { defaultRecorderOptions, type RecorderOptions } from './recording/queue.js'
import { readLinks } from './recording/read-links.js'
import { readThrottleRules, type ThrottlePeriods } from './recording/throttle-rules.js'
import { requireNode } from './store/node-version.js'
import { readOnlyStore } from './store/read-only.js'
import type { SubscriptionsOptions } from './subscriptions/subscriptions.js'
import { type EventStore, WAIT_OPTIONS, type WaitOptions } from './store/store.js'
import { checkOptions, type OptionNames, requireOptions } from './options.js'

export interface AuditLogOptions<Types extends EventTypes, Links extends LinkTable = LinkTable> {
  /** The store of the events. `close` closes it. */
  readonly store: EventStore
  /**
   * Only reading is allowed: methods that write reject with `READ_ONLY`. Cannot be combined with `journal`,
   * `cleaning` or `subscriptions`. @default true for a store that is opened read-only, else false
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
   * Failure policies for calls while the store fails or is too slow: one policy for all types, or policies by level
   * and type. @default 'block'
   */
  readonly failurePolicy?: FailurePolicy | FailurePolicies
  /** Stores the events of the policy `queue`, such as `sqliteJournal`. `close` of the log closes it. */
  readonly journal?: EventJournal
  /**
   * Throttle periods by event type: a date-fns Duration, or `false` for no throttle. They replace the periods of the
   * registry. A type without a throttle in the registry gets a throttle without a scope.
   */
  readonly throttles?: { readonly [Type in keyof Types]?: Duration | false }
  /** Rules that remove old events, and old data of the host: see {@link Cleaning}. */
  readonly cleaning?: CleaningOptions
  /** Channels, and subscriptions that send matching events to them: see {@link Subscriptions}. */
  readonly subscriptions?: SubscriptionsOptions
  /**
   * Seals the events in a Merkle tree with signed heads, so that later changes of the database can be found: see {@link Ledger}. Only
   * a process with a signer removes events then. A log that only reads seals nothing. Throws
   * `INVALID_OPTION`, also for a store that keeps no ledger. @default none
   */
  readonly ledger?: LedgerOptions | undefined
  /**
   * Encrypts the attributes that event types declare as `personal`, with a key for each person: see {@link PrivacyOptions}. A log whose types
   * declare some needs it, unless it only reads; `false` stores them readable.
   */
  readonly privacy?: PrivacyOptions | false | undefined
  /**
   * Queries that take at least this many milliseconds are reported as `slow-query`; 0 reports all.
   * @default none
   */
  readonly slowQueryMs?: number | undefined
  /** Events of the log about itself. Cannot be combined with `readOnly`. @default none */
  readonly ownEvents?: OwnEventsOptions | undefined
  /** Source of the random bits of ids. @default `crypto.randomFillSync` */
  readonly random?: RandomBytes
}

/** The options that all logs of `AuditLogs` share. */
export type SharedOptions<Types extends EventTypes, Links extends LinkTable = LinkTable> = Omit<
  AuditLogOptions<Types, Links>,
  'store' | 'journal' | 'cleaning' | 'subscriptions' | 'ledger' | 'privacy'
>

export const SHARED_OPTIONS: OptionNames<SharedOptions<EventTypes>> = {
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
  ownEvents: true,
  random: true,
}

const AUDIT_LOG_OPTIONS: OptionNames<AuditLogOptions<EventTypes>> = {
  store: true,
  ...SHARED_OPTIONS,
  journal: true,
  cleaning: true,
  subscriptions: true,
  ledger: true,
  privacy: true,
}

/** Throws `INVALID_OPTION` for an unknown option, and without a store and types. */
function checkAuditLogOptions(options: unknown): void {
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

/**
 * Returns the given options with defaults. Throws `INVALID_OPTION` unless all are whole numbers of at least 1; the
 * message names the options by `where`.
 */
function positive<Options extends object>(
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

/** Throws `INVALID_OPTION` for limits out of range. */
function readLimits(given: Partial<JsonLimits> | undefined): JsonLimits {
  const limits = positive(defaultJsonLimits, given, 'limits')
  if (limits.maxDepth > 64)
    throw new AuditLogError('INVALID_OPTION', 'maxDepth must be from 1 to 64')
  if (limits.maxBytes < 1024)
    throw new AuditLogError('INVALID_OPTION', 'maxBytes must be at least 1024')
  return limits
}

/**
 * Returns the options that all logs of `AuditLogs` share, with defaults. Throws `INVALID_OPTION`, also for the
 * failure policy `queue` without a journal. Messages name the class by `where`.
 */
export function readShared<Types extends EventTypes, Links extends LinkTable>(
  options: SharedOptions<Types, Links>,
  hasJournal: boolean,
  where: string,
) {
  const types = withOwnTypes(defineEventTypes(options.types))
  return {
    types,
    customTypes: readCustomTypes(options.customTypes),
    links: readLinks(options.links, where),
    limits: readLimits(options.limits),
    waiting: positive(defaultRecorderOptions, options.waiting, 'waiting'),
    policyOf: readFailurePolicies(options.failurePolicy, hasJournal),
    throttles: readThrottleRules(types, options.throttles as ThrottlePeriods | undefined),
    slowQueryMs: readSlowQueryMs(options.slowQueryMs),
    ownEvents: readOwnEvents(options.ownEvents),
    policies: options.failurePolicy ?? 'block',
    strict: options.strict ?? false,
    resolveSource: options.resolveSource,
    random: options.random,
  }
}

/**
 * The options of an `AuditLog` with their defaults. The options of cleaning and subscriptions stay as given. Throws
 * `INVALID_OPTION`.
 */
export function readAuditLogOptions<Types extends EventTypes, Links extends LinkTable>(
  options: AuditLogOptions<Types, Links>,
) {
  requireNode()
  checkAuditLogOptions(options)
  const { store, readOnly = store.readOnly === true, journal, cleaning, subscriptions } = options
  const parts = { journal, cleaning, subscriptions }
  for (const [name, value] of Object.entries({ ...parts, ownEvents: options.ownEvents }))
    if (readOnly && value !== undefined)
      throw new AuditLogError('INVALID_OPTION', `a log that only reads takes no ${name}`)
  const used = readOnly && !store.readOnly ? readOnlyStore(store) : store
  const ledger = readLedgerOptions(options.ledger, used)
  const shared = readShared(options, journal !== undefined, 'AuditLog')
  const privacy = readPrivacy(options.privacy, shared, readOnly)
  return {
    ...shared,
    ...parts,
    ledger,
    privacy,
    sealedNames: privacy ? sealedNames(shared.types) : NO_SEALED_NAMES,
    store: used,
  }
}

/** The options of a log as it uses them. */
export type LogSettings = ReturnType<typeof readAuditLogOptions>

/** Resolves when the log is closed. Without a signal, returns the promise of `end` unchanged. */
export function untilClosed(given: WaitOptions | undefined, end: () => Promise<void>) {
  try {
    checkOptions(given, WAIT_OPTIONS, 'close')
  } catch (error) {
    return Promise.reject(error)
  }
  return untilAborted(end(), given?.signal)
}
