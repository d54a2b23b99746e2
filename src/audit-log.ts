import { inspect } from 'node:util'
import { createEmitter, emitSafely, type Handler } from './emitter.js'
import { AuditLogError, untilAborted } from './errors.js'
import type { AuditEvent, EventDraft } from './event.js'
import { type RandomBytes, tailSource } from './event-id.js'
import {
  checkData,
  type EventData,
  type EventTypeDefinition,
  eventTypeFault,
  type EventTypes,
} from './event-types.js'
import { createFollowing, type EventTail, type Following, type TailOptions } from './following.js'
import { bothOf, type EventQuery, MAX_LIMIT, oneCondition } from './filter/ast.js'
import { scanDirection } from './filter/order.js'
import { parseQuery, type QueryObject, readLimit } from './filter/parse.js'
import { readImported } from './importing.js'
import { defaultJsonLimits, type JsonLimits, toJsonText } from './json.js'
import { storableText } from './json-copy.js'
import { type ResolveSource, sourceOf } from './links.js'
import {
  createRecorder,
  defaultRecorderOptions,
  type Recorder,
  type RecorderOptions,
} from './recorder.js'
import type { EventPage, EventStore, ImportResult, WaitOptions } from './store.js'

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
  /** Randomness of ids. @default `crypto.randomFillSync` */
  readonly random?: RandomBytes
}

export interface RecordOptions extends WaitOptions {
  /** The requesting user; null where none is behind it. @default null */
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

/** What `on` can listen to. Handlers run synchronously; one that throws becomes an `error`. */
export type AuditLogEvents = {
  /** An event became durable; in the order of `created_at`. */
  recorded: AuditEvent
  /** A call of `record` or `recordCustom` was rejected. */
  rejected: { readonly type: string; readonly error: AuditLogError }
  /** A handler threw. Without a handler for this it becomes a process warning. */
  error: unknown
}

/**
 * Where the calls made so far stand. At every moment
 * `calls = stored + heldBack + rejected + dropped + journalled + waiting`.
 */
export interface AuditLogStats {
  readonly calls: number
  readonly stored: number
  readonly heldBack: number
  readonly rejected: number
  readonly dropped: number
  readonly journalled: number
  readonly waiting: number
}

/** A query string, an object of the same shape, or a query already parsed. */
export type QueryInput = string | URLSearchParams | QueryObject | EventQuery

function toQuery(input: QueryInput | undefined): EventQuery {
  const isParsed =
    input !== null && typeof input === 'object' && 'sorts' in input && 'where' in input
  if (!isParsed) return parseQuery(input)
  const limit = readLimit(String(input.limit))
  return limit === input.limit ? input : { ...input, limit }
}

function positive<Options extends object>(
  defaults: Options,
  given: Partial<Options> = {},
): Options {
  const options = { ...defaults, ...given }
  for (const [name, value] of Object.entries(options))
    if (!Number.isInteger(value) || (value as number) < 1)
      throw new AuditLogError('INVALID_OPTION', `${name} must be a whole number of at least 1`)
  return options
}

/** The host's `enabled` and `resolveSource` may throw anything. */
function asAuditLogError(thrown: unknown): AuditLogError {
  if (thrown instanceof AuditLogError) return thrown
  return new AuditLogError('INVALID_EVENT', 'the event could not be prepared', { cause: thrown })
}

/**
 * An audit log on a store: `record` what happened, `list` it again.
 *
 * Every method rejects with {@link AuditLogError} only.
 */
export class AuditLog<const Types extends EventTypes = EventTypes> {
  /** The registry this log was made with. */
  readonly types: Types
  readonly store: EventStore
  readonly #recorder: Recorder
  readonly #following: Following
  readonly #emitter = createEmitter<AuditLogEvents>()
  readonly #limits: JsonLimits
  readonly #nextTail: () => string
  readonly #strict: boolean
  readonly #resolveSource: ResolveSource | undefined
  readonly #counts = { calls: 0, stored: 0, heldBack: 0, rejected: 0, dropped: 0, journalled: 0 }
  #closed: Promise<void> | undefined

  constructor(options: AuditLogOptions<Types>) {
    this.types = options.types
    this.store = options.store
    this.#limits = positive(defaultJsonLimits, options.limits)
    if (this.#limits.maxDepth > 64)
      throw new AuditLogError('INVALID_OPTION', 'maxDepth must be from 1 to 64')
    if (this.#limits.maxBytes < 1024)
      throw new AuditLogError('INVALID_OPTION', 'maxBytes must be at least 1024')
    this.#strict = options.strict ?? false
    this.#resolveSource = options.resolveSource
    this.#nextTail = tailSource(options.random)
    this.#following = createFollowing(options.store)
    this.#recorder = createRecorder(
      options.store,
      positive(defaultRecorderOptions, options.waiting),
      {
        stored: (events) => this.#onStored(events),
        enlisted: () => void this.#counts.journalled++,
        rejected: (draft, error) => this.#onRejected(draft.type, error),
      },
    )
  }

  /** Bounds of one event's attributes, as resolved from the options. */
  get limits(): JsonLimits {
    return this.#limits
  }

  /**
   * Records a system event of a registered type. Resolves to the stored event once it is durable,
   * or to `undefined` where nothing is readable yet: the type's `enabled` holds it back, or it is
   * part of a `transaction` of the host's. Rejects only when the event is certainly not kept:
   * `UNKNOWN_EVENT_TYPE`, `QUEUE_FULL`, `DEADLINE_EXCEEDED`, `ABORTED`, `STORE_FAILED`, `CLOSED`; in
   * strict mode also `INVALID_DATA` and `INVALID_LINK`. The data is copied before the call returns.
   * Calls made at the same time share one transaction.
   */
  record<Type extends keyof Types & string>(
    type: Type,
    data?: EventData<Types[Type]>,
    options?: RecordOptions,
  ): Promise<AuditEvent | undefined> {
    return this.#call(type, options, () => {
      if (this.#definition(type) === undefined)
        throw new AuditLogError(
          'UNKNOWN_EVENT_TYPE',
          `${type} is not in the registry of event types`,
        )
      return this.#systemDraft(type, data ?? {}, options)
    })
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
    return this.#call(type, options, () => this.#systemDraft(type, data, options))
  }

  /**
   * Records a custom event: `system` is false, the type is the caller's. As `record`; a link
   * attribute that names nothing rejects with `INVALID_LINK`, an unusable type with
   * `INVALID_EVENT`, both with a pointer.
   */
  recordCustom(
    type: string,
    data: object = {},
    options?: RecordOptions,
  ): Promise<AuditEvent | undefined> {
    return this.#call(type, options, () => {
      const text = toJsonText(data, this.#limits)
      const source = sourceOf(text.attributes, false, this.#resolveSource)
      return this.#draft(type, false, text, source, options)
    })
  }

  /**
   * The events that match, at most `limit` of them (10 unless the query says, 1000 at most):
   * without sorts the newest, oldest first; with sorts the first of that order. Rejects with the
   * codes of `parseQuery`, `ABORTED`, `STORE_FAILED`, `CLOSED`.
   */
  async list(query?: QueryInput, options?: WaitOptions): Promise<EventPage> {
    return this.store.list(toQuery(query), options)
  }

  /**
   * Every match in pages of at most 1000 events, in constant memory: from the newest page back,
   * each page oldest first; with `created_at asc` as the sort from the oldest on. Another sort
   * rejects with `INVALID_VALUE`. Events recorded meanwhile are not among them, or at the end.
   */
  async *pages(
    query?: QueryInput,
    options?: WaitOptions,
  ): AsyncGenerator<readonly AuditEvent[], void, void> {
    const { where, sorts } = toQuery(query)
    const direction = scanDirection(sorts)
    if (!direction) {
      const message = 'filter[sorts]: pages run along created_at; use list for another order'
      throw new AuditLogError('INVALID_VALUE', message, { parameter: 'filter[sorts]' })
    }
    let bound: EventQuery['where']
    for (;;) {
      const page = await this.store.list(
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
  tail(query?: QueryInput, options: TailOptions = {}): EventTail {
    return this.#following.tail(() => toQuery(query), options)
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
    const imported = events.map((event, index) => readImported(event, index, this.#limits))
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

  stats(): AuditLogStats {
    return { ...this.#counts, waiting: this.#recorder.waiting() }
  }

  /** Resolves when every call made before is settled. Rejects with `ABORTED` only. */
  flush(options?: WaitOptions): Promise<void> {
    return untilAborted(this.#recorder.flush(), options?.signal)
  }

  /**
   * Refuses further calls with `CLOSED`, waits for those made, closes the store. Idempotent. With an
   * aborted signal it is not waited for, but goes on.
   */
  close(options?: WaitOptions): Promise<void> {
    this.#closed ??= this.#recorder
      .flush()
      .then(() => this.store.close())
      .finally(() => this.#following.wake())
    return untilAborted(this.#closed, options?.signal)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #definition(type: string): EventTypeDefinition | undefined {
    return Object.hasOwn(this.types, type) ? this.types[type] : undefined
  }

  /** `prepare` runs at once, so calls keep their order; then the call counts, and goes on. */
  #call(
    type: string,
    options: RecordOptions | undefined,
    prepare: () => EventDraft | undefined,
  ): Promise<AuditEvent | undefined> {
    const refuse = (thrown: unknown): Promise<never> => {
      const error = asAuditLogError(thrown)
      this.#onRejected(type, error)
      return Promise.reject(error)
    }
    let draft: EventDraft | undefined
    try {
      if (this.#closed) throw new AuditLogError('CLOSED', 'the audit log is closed')
      draft = prepare()
    } catch (thrown) {
      this.#counts.calls++
      return refuse(thrown)
    }
    this.#counts.calls++
    if (!draft) {
      this.#counts.heldBack++
      return Promise.resolve(undefined)
    }
    try {
      const transaction = options?.transaction
      if (transaction === undefined) return this.#recorder.add(draft, options)
      return this.#recorder.enlist(draft, transaction, options)
    } catch (thrown) {
      return refuse(thrown)
    }
  }

  #systemDraft(
    type: string,
    data: object,
    options: RecordOptions | undefined,
  ): EventDraft | undefined {
    const definition = this.#definition(type)
    if (definition?.enabled?.() === false) return undefined
    if (this.#strict && definition) checkData(type, definition, data)
    const text = toJsonText(data, this.#limits)
    // A wrong link must not cost a system event its record.
    const source = sourceOf(text.attributes, true, this.#resolveSource, !this.#strict)
    return this.#draft(type, true, text, source, options)
  }

  #draft(
    type: string,
    system: boolean,
    text: Pick<EventDraft, 'attributes' | 'json'>,
    source: string | null,
    options: RecordOptions | undefined,
  ): EventDraft {
    const fault = eventTypeFault(type)
    if (fault)
      throw new AuditLogError('INVALID_EVENT', `the event type ${fault}`, { pointer: '/type' })
    const username = options?.username ?? null
    return {
      tail: this.#nextTail(),
      username: username === null ? null : storableText(username),
      system,
      type,
      source: source === null ? null : storableText(source),
      attributes: text.attributes,
      json: text.json,
    }
  }

  #onStored(events: readonly AuditEvent[]): void {
    this.#counts.stored += events.length
    this.#following.stored(events)
    if (this.#emitter.all.has('recorded')) for (const event of events) this.#emit('recorded', event)
  }

  #onRejected(type: string, error: AuditLogError): void {
    this.#counts.rejected++
    this.#emit('rejected', { type, error })
  }

  #emit<Name extends keyof AuditLogEvents>(name: Name, event: AuditLogEvents[Name]): void {
    emitSafely(this.#emitter, name, event, (error) => {
      if (name !== 'error' && this.#emitter.all.get('error')?.length) this.#emit('error', error)
      else process.emitWarning(error instanceof Error ? error : new Error(inspect(error)))
    })
  }
}
