import { inspect } from 'node:util'
import { countsQuery } from '../counting/count-options.js'
import { fromFirstVisible } from '../counting/visible-span.js'
import { AuditLogError } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import { pagesOfOneLog } from '../event/event-of-log.js'
import type { EventTypes } from '../event/event-types.js'
import { linkRules, type LinkTable } from '../event/links.js'
import { explanationOf, type QueryExplanation } from '../explaining/explanation.js'
import { publishQueries } from '../explaining/query-channels.js'
import {
  createSlowQueries,
  type SlowQueries,
  type SlowQueryListeners,
} from '../explaining/slow-queries.js'
import { bothOf, type EventQuery } from '../filter/ast.js'
import { type QueryInput, toQuery } from '../filter/query-input.js'
import type { SealedNames } from '../filter/sealed-names.js'
import { groupsQuery } from '../grouping/group-options.js'
import { groupEvents } from '../grouping/groups.js'
import {
  type HistoryEntry,
  historyOf,
  type HistoryOptions,
  HISTORY_OPTIONS,
  historyQuery,
  type HistoryResource,
  readResource,
  resourceNames,
} from '../history/history.js'
import { checkOptions, type OptionNames, requireOptions } from '../options.js'
import type { PrivacyOptions } from '../privacy/options.js'
import { readOptions, readToken } from '../store/consistency-token.js'
import {
  COUNT_OPTIONS,
  type CountOptions,
  type CountsQuery,
  type EventCounts,
} from '../store/counts.js'
import { type EventGroups, GROUP_OPTIONS, type GroupOptions } from '../store/groups.js'
import { pagesOf } from '../store/pages.js'
import {
  type EventPage,
  type EventStore,
  LIST_OPTIONS,
  type ListOptions,
  READ_OPTIONS,
  type ReadOptions,
  WAIT_OPTIONS,
  type WaitOptions,
} from '../store/store.js'
import { createTrace } from '../store/trace.js'
import {
  REBUILD_OPTIONS,
  type RebuildOptions,
  type Verification,
  VERIFY_OPTIONS,
  type VerifyOptions,
} from '../store/verification.js'
import type { EventChange } from '../tail/changes.js'
import { newestCursor } from '../tail/poll.js'
import { sharedTail } from '../tail/shared-tail.js'
import {
  createTails,
  type EventTail,
  TAIL_OPTIONS,
  type TailOptions,
  type Tails,
  type TailStart,
} from '../tail/tails.js'
import {
  createPersonalValues,
  HAS_PARTS,
  PERSONAL_OPTIONS,
  type PersonalForm,
  type PersonalOptions,
  type PersonalValues,
  SUBJECT_OPTIONS,
  type SubjectOptions,
} from './personal-values.js'

export interface ReadListOptions extends ListOptions, PersonalOptions, SubjectOptions {}

export interface ReadGetOptions extends ReadOptions, PersonalOptions {}

export interface ReadHistoryOptions extends HistoryOptions, PersonalOptions {}

export interface ReadTailOptions extends TailOptions, PersonalOptions, SubjectOptions {}

export interface ReadCountOptions extends CountOptions, SubjectOptions {}

export interface ReadGroupOptions extends GroupOptions, SubjectOptions {}

const PERSONAL: OptionNames<PersonalOptions & SubjectOptions> = {
  ...PERSONAL_OPTIONS,
  ...SUBJECT_OPTIONS,
}
const OPEN_PERSONAL: OptionNames<PersonalOptions & WaitOptions> = {
  ...WAIT_OPTIONS,
  ...PERSONAL_OPTIONS,
}
export const READ_LIST: OptionNames<ReadListOptions> = { ...LIST_OPTIONS, ...PERSONAL }
export const READ_GET: OptionNames<ReadGetOptions> = { ...READ_OPTIONS, ...PERSONAL_OPTIONS }
export const READ_HISTORY: OptionNames<ReadHistoryOptions> = {
  ...HISTORY_OPTIONS,
  ...PERSONAL_OPTIONS,
}
export const READ_TAIL: OptionNames<ReadTailOptions> = { ...TAIL_OPTIONS, ...PERSONAL }
const READ_COUNT: OptionNames<ReadCountOptions> = { ...COUNT_OPTIONS, ...SUBJECT_OPTIONS }
const READ_GROUP: OptionNames<ReadGroupOptions> = { ...GROUP_OPTIONS, ...SUBJECT_OPTIONS }

/** The parts of a log that its reads use. */
export interface ReadSettings {
  readonly store: EventStore
  readonly types: EventTypes
  readonly links: LinkTable
  readonly privacy: PrivacyOptions | undefined
  readonly sealedNames: SealedNames
  readonly slowQueryMs: number | undefined
}

/** The methods of a log that read its events, and that check and rebuild the index. */
export class LogReader {
  readonly store: EventStore
  /** The link attributes: the option `links`. */
  readonly links: LinkTable
  readonly #queries: SlowQueries
  readonly #tails: Tails
  readonly #personal: PersonalValues

  constructor(
    { store, types, links, privacy, sealedNames, slowQueryMs }: ReadSettings,
    listeners: SlowQueryListeners,
  ) {
    this.store = store
    this.links = links
    this.#queries = publishQueries(this, createSlowQueries(store, slowQueryMs, listeners))
    this.#tails = createTails(sharedTail(store), links)
    this.#personal = createPersonalValues(types, privacy, sealedNames)
  }

  /** The names of attributes that no query may use, because their values are encrypted. */
  get sealedNames(): SealedNames {
    return this.#personal.names
  }

  /** True for a log with the option `privacy`, which can read personal attributes. */
  get hasKeys(): boolean {
    return this.#personal.hasKeys
  }

  /** The parsed query. Throws for a name that is encrypted. */
  #read(query: QueryInput | undefined): EventQuery {
    const parsed = toQuery(query)
    this.#personal.names.checkQuery(parsed)
    return parsed
  }

  async #ofSubject(query: EventQuery, { subject, ...options }: SubjectOptions & WaitOptions) {
    if (subject === undefined) return query
    const person = await this.#personal.ofSubject(subject, options)
    return { ...query, where: bothOf(person, query.where) }
  }

  /**
   * Lists at most `limit` matching events (default 10, maximum 1000). Without sorts, these are the newest events,
   * oldest first; with sorts, the first events in that order. Rejects with the codes of `parseQuery`, `QUERY_TIMEOUT`
   * after the store's `queryTimeoutMs`, `SEALED_ATTRIBUTE` for a filter or a sort by an encrypted attribute, `KEYS_UNAVAILABLE`, `ABORTED`,
   * `STORE_FAILED`, `CLOSED`.
   */
  async list(query?: QueryInput, options: ReadListOptions = {}): Promise<EventPage> {
    checkOptions(options, READ_LIST, 'list')
    const { personal, subject, ...others } = options
    // Most calls give neither, so the store gets their options as they are.
    const reading = personal === undefined && subject === undefined ? options : others
    const form = this.#personal.form(personal)
    const { signal, consistencyToken } = options
    readToken(consistencyToken)
    const wanted = await this.#ofSubject(this.#read(query), { subject, signal })
    const page = await this.#queries.list('list', wanted, reading)
    const events = await this.#personal.show(page.events, form, { signal })
    return { ...page, events }
  }

  /**
   * Runs the query as `list` does, and returns the steps, the number of events that each step read, and the time.
   * Also requests details from the store. Rejects as `list` does.
   */
  async explain(query?: QueryInput, options: ReadOptions = {}): Promise<QueryExplanation> {
    checkOptions(options, READ_OPTIONS, 'explain')
    const parsed = this.#read(query)
    const trace = createTrace({ detailed: true })
    const start = performance.now()
    const page = await this.store
      .list(parsed, { ...readOptions(options), trace })
      .finally(() => trace.stop())
    const took_ms = performance.now() - start
    return explanationOf({ store: this.store.name, query: parsed, trace, page, took_ms })
  }

  /**
   * All matching events in pages of at most 1000, in constant memory. Without sorts the newest page comes first, with
   * the sort `created_at asc` the oldest page. Each page has its oldest event first. Other sorts reject with
   * `INVALID_VALUE`. Events that are recorded during the call are left out or come last. Rejects as `list` does.
   */
  async *pages(
    query?: QueryInput,
    options: ReadListOptions = {},
  ): AsyncGenerator<readonly AuditEvent[], void, void> {
    checkOptions(options, READ_LIST, 'pages')
    const { personal, subject, ...reading } = options
    const form = this.#personal.form(personal)
    const { signal } = reading
    const wanted = await this.#ofSubject(this.#read(query), { subject, signal })
    yield* this.#shownPages(wanted, form, reading)
  }

  /** The pages as they are stored. */
  #pages(
    query: EventQuery,
    options?: ListOptions,
  ): AsyncGenerator<readonly AuditEvent[], void, void> {
    readToken(options?.consistencyToken)
    const durable = { ...options, durable: true }
    return pagesOf((wanted) => this.#queries.list('pages', wanted, durable), query)
  }

  async *#shownPages(
    query: EventQuery,
    form: PersonalForm,
    options: ListOptions,
  ): AsyncGenerator<readonly AuditEvent[], void, void> {
    const { signal } = options
    for await (const events of this.#pages(query, options))
      yield await this.#personal.show(events, form, { signal })
  }

  /**
   * The changes of a resource, oldest first, each with its event, its JSON Patch and the state after it:
   * `for await (const { event, state } of audit.history({ order_id: 'A-17' }))`. Reads the events that name the resource and
   * hold `changes`, or `before` and `after`. The state is known after an event that holds it whole or whose type ends
   * with `create`. It is unknown after an event that holds only a part of its change, or that does not fit the state
   * before it. Keeps one page of events and one state. States have no personal values that stay encrypted, or were erased: a change of such a
   * value is a part. Rejects with `INVALID_VALUE` and as `pages` does.
   */
  async *history(
    resource: HistoryResource,
    options: ReadHistoryOptions = {},
  ): AsyncGenerator<HistoryEntry, void, void> {
    checkOptions(options, READ_HISTORY, 'history')
    const { personal, asOf, ...reading } = options
    const form = this.#personal.form(personal)
    const found = readResource(resource, linkRules(this.links))
    this.#personal.names.check(resourceNames(resource), 'resource')
    const pages = this.#shownPages(historyQuery(found, { asOf }), form, reading)
    yield* historyOf(pagesOfOneLog(pages), found)
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
   * Tails that are far behind read from the store one after the other. Personal values are opened for each tail, a batch
   * at a time; the events are copies then.
   */
  tail(query?: QueryInput, options?: ReadTailOptions & { readonly changes?: false }): EventTail
  /**
   * With `changes` also the changes of the live events among them, within 250 ms: {@link EventChange}s
   * with the JSON Patch (RFC 6902) of the attributes. Changes in quick succession are merged. For
   * matching events that were open before, the first change has all attributes.
   */
  tail(query: QueryInput | undefined, options: ReadTailOptions): EventTail<AuditEvent | EventChange>
  tail(query?: QueryInput, options: ReadTailOptions = {}): EventTail<AuditEvent | EventChange> {
    const { personal, subject, ...reading } = Object(options) as ReadTailOptions
    const start = (): TailStart => {
      checkOptions(options, READ_TAIL, 'tail')
      const values = this.#personal
      const form = values.form(personal)
      const wanted = this.#read(query)
      values.names.checkOption(reading.visible, 'visible')
      if (subject === undefined)
        return { query: wanted, show: (events, given) => values.show(events, form, given) }
      const select = values.selectSubject(subject)
      return {
        query: { ...wanted, where: bothOf(HAS_PARTS, wanted.where) },
        show: async (events, given) => values.show(await select(events, given), form, given),
      }
    }
    return this.#tails.tail(start, reading)
  }

  /**
   * Counts all matching events; sorts and limit have no effect. Returns the total and the counts by
   * level; on request also counts over time, the most frequent values of attributes, and the names of
   * the attributes. Figures that are not complete after 2 seconds, or `within`, are lower bounds: see `exact`.
   * The total does not depend on what else is asked for. Rejects with the codes of `parseQuery`, `INVALID_VALUE` for an invalid option,
   * `SEALED_ATTRIBUTE`, `ABORTED`, `STORE_FAILED`, `CLOSED`. The names of encrypted attributes are left out.
   */
  async count(query?: QueryInput, options: ReadCountOptions = {}): Promise<EventCounts> {
    checkOptions(options, READ_COUNT, 'count')
    const read = readOptions(options)
    const { names } = this.#personal
    const { subject, ...given } = options
    const asked = countsQuery(this.#read(query), given)
    names.check(asked.facets, 'facets')
    const within = await this.#visibleOf(asked, { subject, signal: read.signal })
    const wanted = await fromFirstVisible(this.store, within, read)
    const { attributes, ...counts } = await this.#queries.count(wanted, read)
    return { ...counts, attributes: attributes?.filter(({ name }) => !names.has(name)) }
  }

  /** The query for the events of a person, who facets cannot ignore. */
  async #visibleOf<Asked extends Pick<CountsQuery, 'visible'>>(
    asked: Asked,
    { subject, signal }: SubjectOptions & WaitOptions,
  ): Promise<Asked> {
    this.#personal.names.checkOption(asked.visible, 'visible')
    if (subject === undefined) return asked
    const person = await this.#personal.ofSubject(subject, { signal })
    return { ...asked, visible: bothOf(person, asked.visible) }
  }

  /**
   * Groups all matching events by the values of one or two attributes: the most frequent groups with their
   * counts, and on request their counts over time and percentiles of numbers. Sorts and limit have no effect.
   * Reads the matching events; counts of one attribute come from the index where it has them. After 2 seconds,
   * or `within`, the other figures are estimates from what was read, each with its error, and `exact` says so.
   * Rejects with the codes of `parseQuery`, `INVALID_VALUE` for an invalid option, `SEALED_ATTRIBUTE`, `QUERY_TIMEOUT`, `ABORTED`,
   * `STORE_FAILED`, `CLOSED`.
   */
  async groups(query: QueryInput | undefined, options: ReadGroupOptions): Promise<EventGroups> {
    requireOptions(options, READ_GROUP, 'groups')
    const read = readOptions(options)
    const { subject, ...given } = options
    const asked = groupsQuery(this.#read(query), given)
    this.#personal.names.check(asked.by, 'by')
    this.#personal.names.check(asked.numbers, 'numbers')
    const wanted = await this.#visibleOf(asked, { subject, signal: read.signal })
    const log = {
      list: (wanted: EventQuery, listOptions: ListOptions) =>
        this.#queries.list('pages', wanted, listOptions),
      pages: (wanted: EventQuery, listOptions: ListOptions) => this.#pages(wanted, listOptions),
      count: (wanted: CountsQuery, countOptions: ReadOptions) =>
        this.#queries.count(wanted, countOptions),
    }
    return groupEvents(log, wanted, read)
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

  /** The event with this id, or `undefined`. Rejects with `INVALID_VALUE` for an id that is not a text, and `KEYS_UNAVAILABLE`. */
  async get(id: string, options: ReadGetOptions = {}): Promise<AuditEvent | undefined> {
    checkOptions(options, READ_GET, 'get')
    if (typeof id !== 'string')
      throw new AuditLogError('INVALID_VALUE', `id must be a text; it is ${inspect(id)}`)
    const { personal, ...reading } = options
    const form = this.#personal.form(personal)
    readToken(reading.consistencyToken)
    const event = await this.store.get(id.toLowerCase(), reading)
    if (!event) return undefined
    const [shown] = await this.#personal.show([event], form, { signal: reading.signal })
    return shown
  }

  /**
   * The events with their personal attributes in another form, such as events of listeners, channels and archives, which are in the stored form.
   * Events in another form, and events without personal attributes, are returned as they are. One look-up of keys. Rejects with
   * `KEYS_UNAVAILABLE`, `INVALID_OPTION`, `ABORTED`, `CLOSED`.
   */
  async openPersonal(
    events: readonly AuditEvent[],
    options: PersonalOptions & WaitOptions = {},
  ): Promise<readonly AuditEvent[]> {
    checkOptions(options, OPEN_PERSONAL, 'openPersonal')
    const { personal, signal } = options
    return this.#personal.show(events, this.#personal.form(personal), { signal })
  }

  /**
   * Reads all events, the index and the database's own structures. Returns each damaged place and the answers that it
   * affects. Takes about as long as reading the database twice; other calls continue. Each place is also reported
   * like damage that a query finds. Rejects with `INVALID_OPTION` if the store cannot verify, `ABORTED`,
   * `STORE_FAILED`, `CLOSED`.
   */
  async verify(options: VerifyOptions = {}): Promise<Verification> {
    checkOptions(options, VERIFY_OPTIONS, 'verify')
    return this.#able('verify')(options)
  }

  /**
   * Rebuilds the index from the events. Queries use the old index until the new one is complete; the database needs
   * room for both. `onProgress` is called a few times each second. Resolves when the new index is in use; an aborted
   * signal ends the wait, not the work. Rejects with `INVALID_OPTION` if the store cannot rebuild, `READ_ONLY`,
   * `ABORTED`, `STORE_FAILED`, `CLOSED`.
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
}
