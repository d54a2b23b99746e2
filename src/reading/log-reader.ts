import { inspect } from 'node:util'
import { countsQuery } from '../counting/count-options.js'
import { fromFirstVisible } from '../counting/visible-span.js'
import { AuditLogError } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import { pagesOfOneLog } from '../event/event-of-log.js'
import { linkRules, type LinkTable } from '../event/links.js'
import { explanationOf, type QueryExplanation } from '../explaining/explanation.js'
import { publishQueries } from '../explaining/query-channels.js'
import {
  createSlowQueries,
  type SlowQueries,
  type SlowQueryListeners,
} from '../explaining/slow-queries.js'
import type { EventQuery } from '../filter/ast.js'
import { type QueryInput, toQuery } from '../filter/query-input.js'
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
} from '../history/history.js'
import { checkOptions, requireOptions } from '../options.js'
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
} from '../tail/tails.js'

/** The methods of a log that read its events, and that check and rebuild the index. */
export class LogReader {
  readonly store: EventStore
  /** The link attributes: the option `links`. */
  readonly links: LinkTable
  readonly #queries: SlowQueries
  readonly #tails: Tails

  constructor(
    store: EventStore,
    links: LinkTable,
    slowQueryMs: number | undefined,
    listeners: SlowQueryListeners,
  ) {
    this.store = store
    this.links = links
    this.#queries = publishQueries(this, createSlowQueries(store, slowQueryMs, listeners))
    this.#tails = createTails(sharedTail(store), links)
  }

  /**
   * Lists at most `limit` matching events (default 10, maximum 1000). Without sorts, these are the newest events,
   * oldest first; with sorts, the first events in that order. Rejects with the codes of `parseQuery`, `QUERY_TIMEOUT`
   * after the store's `queryTimeoutMs`, `ABORTED`, `STORE_FAILED`, `CLOSED`.
   */
  async list(query?: QueryInput, options?: ListOptions): Promise<EventPage> {
    checkOptions(options, LIST_OPTIONS, 'list')
    readToken(options?.consistencyToken)
    return this.#queries.list('list', toQuery(query), options)
  }

  /**
   * Runs the query as `list` does, and returns the steps, the number of events that each step read, and the time.
   * Also requests details from the store. Rejects as `list` does.
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
   * All matching events in pages of at most 1000, in constant memory. Without sorts the newest page comes first, with
   * the sort `created_at asc` the oldest page. Each page has its oldest event first. Other sorts reject with
   * `INVALID_VALUE`. Events that are recorded during the call are left out or come last.
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
    yield* historyOf(pagesOfOneLog(this.#pages(historyQuery(found, options), options)), found)
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
