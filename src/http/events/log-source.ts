import { AuditLogError } from '../../errors.js'
import type { AuditEvent } from '../../event/event.js'
import { type EventOfLog, ofOneLog, pagesOfOneLog, withoutLogs } from '../../event/event-of-log.js'
import { formatTimestamp, parseTimestamp } from '../../event/timestamp.js'
import { existingEvents, upTo } from '../../exporting/existing-events.js'
import { bothOf, type EventQuery, type Grouping, MAX_LIMIT, olderThan } from '../../filter/ast.js'
import { compileFilter } from '../../filter/evaluate.js'
import { formatQuery } from '../../filter/format.js'
import type { CountOptions, EventCounts } from '../../store/counts.js'
import type { EventGroups, GroupOptions } from '../../store/groups.js'
import type { EventPage, ListOptions, ReadOptions } from '../../store/store.js'
import { sharedTail } from '../../tail/shared-tail.js'
import type { HttpRequest } from '../exchange.js'
import { extractParameters } from '../parameters.js'
import { createBroadcast } from '../stream/broadcast.js'
import { FIELDS, type Fieldset, formatFieldset } from './fieldset.js'
import type { EndpointAudit, EventsReadOptions, HandlerOptions } from './handler.js'
import { createLogStreams, type LogStreamsOptions } from './log-stream.js'
import { longPoll } from './long-poll.js'
import { createOpenEventFinder, type FindOpenEvents } from './open-events.js'
import { eventFrame } from './server-sent.js'
import type {
  EventsSource,
  ExistingMatches,
  OpenStream,
  PageRequest,
  ReportRead,
  SourcePage,
} from './source.js'
import { createStreamView } from './stream-view.js'

/** The path with a query string, if there is one. */
export const withQuery = (path: string, query: string): string =>
  query === '' ? path : `${path}?${query}`

/** The query string of a filter, without a limit. */
export const filterQuery = (where: Grouping | undefined): string =>
  formatQuery({ where, sorts: [], limit: MAX_LIMIT }).replace(/&?limit=\d+$/, '')

/**
 * The event, if the user may see it. A damaged one may be hidden, so a restricted reader does not learn that it exists.
 * Otherwise rejects as `get` does.
 */
export async function visibleEvent(
  log: Pick<EndpointAudit, 'get'>,
  id: string,
  visible: Grouping | undefined,
  options?: ReadOptions,
): Promise<AuditEvent | undefined> {
  try {
    const event = await log.get(id, options)
    return event && compileFilter(visible)(event) ? event : undefined
  } catch (error) {
    if (visible && error instanceof AuditLogError && error.code === 'DAMAGED') return undefined
    throw error
  }
}

/** The link to the page before this one, if there is one. */
function previous(query: EventQuery, fields: Fieldset, page: EventPage): SourcePage['other'] {
  if (!page.truncated || query.sorts.length > 0) return undefined
  const where = olderThan(query.where, page.events[0]!.created_at)
  const parameters = [formatQuery({ ...query, where }), formatFieldset(fields)]
  return { name: 'prev', query: parameters.filter((text) => text !== '').join('&') }
}

const KNOWN: EventsSource['known'] = {
  list: `filter, q, limit and ${FIELDS}`,
  read: FIELDS,
  stream: `filter, q, ${FIELDS}, after and changes`,
  me: undefined,
}

const all = (where: Grouping | undefined): EventQuery => ({ where, sorts: [], limit: MAX_LIMIT })

/** What the sources of one log share. */
interface Shared extends LogStreamsOptions {
  readonly findOpen: FindOpenEvents
  readonly streamOf: ReturnType<typeof createLogStreams>
  readonly pathOf: EventsSource['pathOf']
}

/** A class, because each list has one: the closures of an object would take as long as reading an event. */
class LogSource implements EventsSource {
  readonly described: EndpointAudit
  readonly isRestricted: boolean
  readonly hasLogs = false
  readonly base: string
  readonly known = KNOWN
  readonly pathOf: EventsSource['pathOf']
  readonly #shared: Shared
  readonly #visible: Grouping | undefined
  readonly #reading: EventsReadOptions

  constructor(shared: Shared, visible: Grouping | undefined, reading: EventsReadOptions) {
    const { audit, path, pathOf } = shared
    this.described = audit
    this.isRestricted = visible !== undefined
    this.base = path
    this.pathOf = pathOf
    this.#shared = shared
    this.#visible = visible
    this.#reading = reading
  }

  link(endpoint: string, query: string): string {
    return withQuery(this.base + endpoint, query)
  }

  queryBefore(query: string, { event }: EventOfLog): string {
    const { rest } = extractParameters(query, (name) => name === 'as_of')
    // Times are unique, so the one before excludes only this event.
    return `${rest}&as_of=${formatTimestamp(parseTimestamp(event.created_at)! - 1)}`
  }

  async read(id: string): Promise<EventOfLog | undefined> {
    const event = await visibleEvent(this.#shared.audit, id, this.#visible, this.#reading)
    return event && { event }
  }

  async page({ query, fields, seconds }: PageRequest): Promise<SourcePage> {
    const { broadcast } = this.#shared
    const list = (): Promise<EventPage> => this.#list(query, seconds !== undefined)
    const page = seconds
      ? await longPoll({
          broadcast,
          view: createStreamView(bothOf(this.#visible, query.where), this.base),
          query,
          seconds,
          list,
          signal: this.#reading.signal,
        })
      : await list()
    const { events, truncated } = page
    return { events: ofOneLog(events), truncated, other: previous(query, fields, page) }
  }

  list(query: EventQuery): Promise<EventPage> {
    return this.#list(query, false)
  }

  pages(query: EventQuery): AsyncIterable<readonly EventOfLog[]> {
    return pagesOfOneLog(this.#shared.audit.pages(this.#restricted(query), this.#lazy()))
  }

  // `visible` stays separate from `where`: a facet ignores conditions of the query on itself, never `visible`.
  count(where: Grouping | undefined, options: CountOptions): Promise<EventCounts> {
    const visible = this.#visible
    return this.#shared.audit.count(all(where), { ...options, ...this.#reading, visible })
  }

  groups(where: Grouping | undefined, options: GroupOptions): Promise<EventGroups> {
    const visible = this.#visible
    return this.#shared.audit.groups(all(where), { ...options, ...this.#reading, visible })
  }

  async existing(where: Grouping | undefined): Promise<ExistingMatches> {
    const { audit } = this.#shared
    const reading = this.#reading
    const visible = this.#visible
    const { query, until } = await existingEvents(audit, where, { ...reading, visible })
    return {
      until,
      pages: () => pagesOfOneLog(audit.pages(query, this.#lazy())),
      count: (within) => audit.count(query, { ...reading, within }),
      exportQuery: (asOf) => filterQuery(upTo(where, asOf)),
    }
  }

  open(items: readonly EventOfLog[]): ReturnType<FindOpenEvents> {
    return this.#shared.findOpen(withoutLogs(items), this.#reading)
  }

  stream(request: HttpRequest, reportRead: ReportRead): OpenStream {
    const { consistencyToken } = this.#reading
    const call = { request, visible: this.#visible, consistencyToken, reportRead }
    return this.#shared.streamOf(call, KNOWN.stream)
  }

  #lazy(): ListOptions {
    return { ...this.#reading, lazy: true }
  }

  #restricted(query: EventQuery): EventQuery {
    return { ...query, where: bothOf(this.#visible, query.where) }
  }

  #list(query: EventQuery, durable: boolean): Promise<EventPage> {
    return this.#shared.audit.list(this.#restricted(query), { ...this.#lazy(), durable })
  }
}

/** Returns the events of one log that a user may see. */
export type LogSources = (visible: Grouping | undefined, reading: EventsReadOptions) => EventsSource

export function createLogSources({ audit, path }: HandlerOptions): LogSources {
  const broadcast = createBroadcast(sharedTail(audit.store), (event) => eventFrame(event, path))
  const shared: Shared = {
    audit,
    path,
    broadcast,
    pathOf: () => path,
    findOpen: createOpenEventFinder(audit),
    streamOf: createLogStreams({ audit, path, broadcast }),
  }
  return (visible, reading) => new LogSource(shared, visible, reading)
}
