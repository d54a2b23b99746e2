import { ASYNC_DISPOSE } from './async/disposal.js'
import type { DescribedTypes } from './describing/describe-event.js'
import type { LinkTable } from './event/links.js'
import { type Concealed, readConcealed } from './filter/conceal.js'
import type { QueryInput } from './filter/query-input.js'
import type { Visible } from './filter/visible-filter.js'
import { historyOf, historyQuery, type HistoryResource } from './history/history.js'
import {
  type LogHistoryEntry,
  LOGS_HISTORY_OPTIONS,
  type LogsHistoryOptions,
} from './logs/history-across.js'
import type { LogsListOptions, LogsPage } from './logs/list-across.js'
import type { LogsTail } from './logs/logs-tail.js'
import type { LogEvent, LogsOptions } from './logs/named-logs.js'
import type { LogsPagesOptions } from './logs/pages-across.js'
import type { LogsRangeOptions, LogsUntilOptions } from './logs/range.js'
import type { LogsTailOptions } from './logs/tail-across.js'
import { AuditLogError } from './errors.js'
import { checkOptions } from './options.js'
import {
  checkRestriction,
  refuseRestriction,
  resourceOf,
  type RestrictedLog,
  type Restriction,
  viewOf,
} from './restricted-log.js'
import type { CountOptions, EventCounts } from './store/counts.js'
import type { EventGroups, GroupOptions } from './store/groups.js'

/** The parts of several logs that a reader may see. Has at least one of the two. */
export interface LogsRestriction {
  /** Returns the filter of the events of a log that the reader may see, or `'all'`. @default `'all'` */
  readonly visible?: (log: string) => Visible
  /** Names of attributes that the reader must not see in any log. @default none */
  readonly conceal?: Concealed
}

export type LogsCountOptions = Omit<CountOptions, 'visible' | 'consistencyToken'> & LogsRangeOptions

export type LogsGroupOptions = Omit<GroupOptions, 'visible' | 'consistencyToken'> & LogsUntilOptions

/** The parts of several logs that are restricted. */
export interface ReadLogs extends DescribedTypes {
  readonly links: LinkTable
  log(key: string): { restricted(restriction: Restriction): RestrictedLog }
  list(query: QueryInput, options: LogsListOptions): Promise<LogsPage>
  pages(
    query: QueryInput,
    options: LogsPagesOptions,
  ): AsyncGenerator<readonly LogEvent[], void, void>
  count(query: QueryInput, options: LogsCountOptions): Promise<EventCounts>
  groups(query: QueryInput, options: LogsGroupOptions): Promise<EventGroups>
  tail(query: QueryInput, options: LogsTailOptions): LogsTail
  cursor(options: LogsOptions): Promise<string>
}

/** Several logs as one reader may see them: see `AuditLogs.restricted`. Its methods are those of the logs. */
export interface RestrictedLogs extends DescribedTypes {
  readonly links: LinkTable
  /** The log with this key as the reader may see it. */
  log(key: string): RestrictedLog
  list(query?: QueryInput, options?: Omit<LogsListOptions, 'visible'>): Promise<LogsPage>
  pages(
    query?: QueryInput,
    options?: Omit<LogsPagesOptions, 'visible'>,
  ): AsyncGenerator<readonly LogEvent[], void, void>
  count(query?: QueryInput, options?: Omit<LogsCountOptions, 'visible'>): Promise<EventCounts>
  groups(
    query: QueryInput | undefined,
    options: Omit<LogsGroupOptions, 'visible'>,
  ): Promise<EventGroups>
  history(
    resource: HistoryResource,
    options?: Omit<LogsHistoryOptions, 'visible'>,
  ): AsyncGenerator<LogHistoryEntry, void, void>
  tail(query?: QueryInput, options?: Omit<LogsTailOptions, 'visible'>): LogsTail
  cursor(options?: Omit<LogsOptions, 'visible'>): Promise<string>
}

/** The tail without what the reader must not see. */
function viewedTail(tail: LogsTail, ofItem: (item: LogEvent) => LogEvent): LogsTail {
  return {
    async next() {
      const result = await tail.next()
      return result.done ? result : { done: false, value: ofItem(result.value) }
    },
    return: () => tail.return(),
    [Symbol.asyncIterator]() {
      return this
    },
    async [ASYNC_DISPOSE]() {
      await tail.return()
    },
    get cursor() {
      return tail.cursor
    },
  }
}

/** The logs as one reader may see them. Throws `INVALID_OPTION`. */
export function restrictLogs(logs: ReadLogs, restriction: LogsRestriction): RestrictedLogs {
  checkRestriction(restriction)
  const { links, types, customTypes } = logs
  const { visible = (): Visible => 'all', conceal = [] } = restriction
  if (typeof visible !== 'function')
    throw new AuditLogError('INVALID_OPTION', 'visible of several logs must be a function of a key')
  const view = viewOf(readConcealed(conceal, links))
  const ofItem = ({ log, event }: LogEvent): LogEvent => ({ log, event: view.event(event) })
  /** The options of a call with the filters of the reader. */
  const own = <Options extends object>(options: Options, method: string) => {
    refuseRestriction(options, method)
    return { ...options, visible }
  }
  async function* viewed(pages: AsyncIterable<readonly LogEvent[]>) {
    for await (const page of pages) yield page.map(ofItem)
  }
  return {
    types,
    customTypes,
    links,
    log: (key) => logs.log(key).restricted({ visible: visible(key), conceal }),
    async list(query, options = {}) {
      const page = await logs.list(view.query(query), own(options, 'list'))
      return { ...page, events: page.events.map(ofItem) }
    },
    async *pages(query, options = {}) {
      yield* viewed(logs.pages(view.query(query), own(options, 'pages')))
    },
    async count(query, options = {}) {
      view.checkNames({ facets: options.facets })
      return view.counts(await logs.count(view.query(query), own(options, 'count')))
    },
    async groups(query, options) {
      view.checkNames({ by: options?.by, numbers: options?.numbers })
      return logs.groups(view.query(query), own(options, 'groups'))
    },
    async *history(resource, options = {}) {
      checkOptions(options, LOGS_HISTORY_OPTIONS, 'history')
      const found = resourceOf(view, resource, links)
      const { asOf, ...range } = own(options, 'history')
      yield* historyOf(viewed(logs.pages(historyQuery(found, { asOf }), range)), found)
    },
    tail(query, options = {}) {
      return viewedTail(logs.tail(view.query(query), own(options, 'tail')), ofItem)
    },
    cursor: async (options = {}) => logs.cursor(own(options, 'cursor')),
  }
}
