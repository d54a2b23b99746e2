import type { Duration } from 'date-fns'
import type { CleaningOptions } from './cleaning/rule.js'
import { AuditLogError } from './errors.js'
import type { AuditEvent } from './event/event.js'
import type { RandomBytes } from './event/event-id.js'
import type { EventTypes } from './event/event-types.js'
import type { SlowQuery } from './explaining/slow-queries.js'
import type { FailurePolicies, FailurePolicy } from './recording/failure-policy.js'
import type { EventJournal } from './store/journal.js'
import { defaultJsonLimits, type JsonLimits } from './event/json.js'
import type { ResolveSource } from './event/links.js'
import type { RecorderOptions } from './recording/queue-limits.js'
import type { EventStore, WaitOptions } from './store/store.js'

export interface AuditLogOptions<Types extends EventTypes> {
  /** Where events are kept. `close` closes it. */
  readonly store: EventStore
  /** The system event types that `record` takes, from `defineEventTypes`. */
  readonly types: Types
  /**
   * For tests: `record` rejects data keys that the type does not declare, and link attributes that
   * name nothing, instead of keeping them.
   * @default false
   */
  readonly strict?: boolean
  /** Replaces the convention by which link attributes become an event's source. */
  readonly resolveSource?: ResolveSource
  /** Bounds of one event's attributes. */
  readonly limits?: Partial<JsonLimits>
  /** Bounds of waiting for the store. */
  readonly waiting?: Partial<RecorderOptions>
  /**
   * What becomes of calls that the store does not take: for all, or by level and type.
   * @default 'block'
   */
  readonly failurePolicy?: FailurePolicy | FailurePolicies
  /** Where the policy `queue` keeps events, such as `sqliteJournal`. `close` closes it. */
  readonly journal?: EventJournal
  /**
   * The host's own throttle periods by event type, in place of those of the registry: a date-fns
   * Duration, or `false` for no throttle. A type without a throttle gets one, without a scope.
   */
  readonly throttles?: { readonly [Type in keyof Types]?: Duration | false }
  /** Rules by which events, and things of the host's, are cleaned up: see {@link Cleaning}. */
  readonly cleaning?: CleaningOptions
  /**
   * From how many milliseconds on a query is told of as `slow-query`; 0 tells of each.
   * @default none is
   */
  readonly slowQueryMs?: number | undefined
  /** Randomness of ids. @default `crypto.randomFillSync` */
  readonly random?: RandomBytes
}

export interface RecordOptions extends WaitOptions {
  /** The requesting user; null where none is behind it. @default that of the actor: `withActor` */
  readonly username?: string | null | undefined
  /**
   * A handle on the store's database with a transaction open, of which the event becomes part: a
   * better-sqlite3 `Database`, a `pg` client. There is no event for work that is rolled back, and
   * none is missing for work that is committed; it becomes visible within about a second of the
   * commit. The handle has been given its statement when the call returns. The call resolves to
   * `undefined` once the event is handed over, which is no news of the commit, and reaches no
   * listener; `INVALID_OPTION` where this is no open handle on that database. A call that rejects
   * has left nothing in the transaction: wait for it before the commit. A synchronous transaction
   * function cannot, and learns of it too late to undo its work.
   */
  readonly transaction?: object | undefined
}

export interface RecordCustomOptions extends RecordOptions {
  /**
   * Names the call, so that it can be made again when nobody knows what became of it: 1 to 255 visible
   * ASCII characters, `INVALID_OPTION` otherwise, and together with a `transaction`. Each user has keys
   * of his own.
   */
  readonly idempotencyKey?: string | undefined
}

export interface RecordChangeOptions extends RecordOptions {
  /** Further data of the event, such as links. */
  readonly data?: object | undefined
}

/** What `on` can listen to. Handlers run synchronously; one that throws becomes an `error`. */
export type AuditLogEvents = {
  /** An event became durable; in the order of `created_at`. */
  recorded: AuditEvent
  /** A call of `record` or `recordCustom` was rejected. */
  rejected: { readonly type: string; readonly error: AuditLogError }
  /** The event of a call is lost by the policy `drop`; why, is the error. */
  dropped: { readonly type: string; readonly error: AuditLogError }
  /** A query took as long as `slowQueryMs`; after its answer. */
  'slow-query': SlowQuery
  /** A handler threw. Without a handler for this it becomes a process warning. */
  error: unknown
}

/** The defaults with what is given, all of it whole numbers of at least 1. */
export function positive<Options extends object>(
  defaults: Options,
  given: Partial<Options> = {},
): Options {
  const options = { ...defaults, ...given }
  for (const [name, value] of Object.entries(options))
    if (!Number.isInteger(value) || (value as number) < 1)
      throw new AuditLogError('INVALID_OPTION', `${name} must be a whole number of at least 1`)
  return options
}

export function readLimits(given: Partial<JsonLimits> | undefined): JsonLimits {
  const limits = positive(defaultJsonLimits, given)
  if (limits.maxDepth > 64)
    throw new AuditLogError('INVALID_OPTION', 'maxDepth must be from 1 to 64')
  if (limits.maxBytes < 1024)
    throw new AuditLogError('INVALID_OPTION', 'maxBytes must be at least 1024')
  return limits
}
