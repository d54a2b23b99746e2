import { oldestFirst, upTo } from '../../exporting/existing-events.js'
import { type EventQuery, type Grouping, MAX_LIMIT } from '../../filter/ast.js'
import type { Visible } from '../../filter/visible-filter.js'
import { formatPlacesBefore } from '../../logs/cursor.js'
import { createEventLogs } from '../../logs/event-logs.js'
import { eventResource, listDocument } from '../events/documents.js'
import { filterQuery, withQuery } from '../events/log-source.js'
import type { EventsSource } from '../events/source.js'
import type { LogsHandlerOptions } from './call.js'
import { openAmong } from './open-events.js'
import { logsQuery, type LogsRequest, pathOfLog } from './requests.js'

/** The events that a user may see of several logs as one, in the order of `created_at`, then of the key of the log. */
export function severalLogsSource(
  { logs, path }: LogsHandlerOptions,
  { logs: keys, sent, rest, ...range }: LogsRequest,
  {
    visible,
    signal,
  }: { readonly visible: ReadonlyMap<string, Visible>; readonly signal: AbortSignal },
): EventsSource {
  const { types, customTypes, links } = logs
  const { take, takePages, logOf } = createEventLogs()
  const named = { logs: keys, visible: (log: string): Visible => visible.get(log)!, signal }
  const { until } = range
  const all = (where: Grouping | undefined): EventQuery => ({ where, sorts: [], limit: MAX_LIMIT })
  return {
    types,
    customTypes,
    links,
    isRestricted: [...visible.values()].some((filter) => filter !== 'all'),
    logOf,
    async list(query) {
      const { events, truncated } = await logs.list(query, { ...named, until, lazy: true })
      return { events: take(events), truncated }
    },
    pages: (query) => takePages(logs.pages(query, { ...named, ...range, lazy: true })),
    count: (where, options) => {
      const { visible: _visible, ...counting } = options
      return logs.count(all(where), { ...counting, ...named, ...range })
    },
    groups: (where, options) => {
      const { visible: _visible, ...grouping } = options
      return logs.groups(all(where), { ...grouping, ...named, until })
    },
    async existing(where) {
      const end = until ?? (await logs.cursor(named))
      const bounded = { ...named, ...range, until: end }
      return {
        until: end,
        pages: () => takePages(logs.pages(oldestFirst(where), { ...bounded, lazy: true })),
        count: (within) => logs.count(all(where), { ...bounded, within }),
        // Clients that know no cursors show the same events by the time.
        exportQuery: (asOf) => `${filterQuery(upTo(where, asOf))}&until=${end}`,
      }
    },
    link: (endpoint, query) =>
      withQuery(
        `${path}/events${endpoint}`,
        query === rest ? sent : [logsQuery(keys), query].filter((text) => text !== '').join('&'),
      ),
    queryBefore: (query, event) => {
      const before = formatPlacesBefore(keys, {
        log: logOf(event),
        created_at: event.created_at,
      })
      return `${query}&until=${before}`
    },
    open: (events) =>
      openAmong(
        logs,
        events.map((event) => ({ log: logOf(event), event })),
        signal,
      ),
    document: (events, shown, { metaOf, meta, ...view }) =>
      listDocument(
        {
          length: events.length,
          resourceAt: (index) => {
            const event = events[index]!
            const log = logOf(event)
            return eventResource(event, pathOfLog(path, log), {
              ...view,
              metaOf: () => ({ log, ...metaOf?.(event) }),
            })
          },
        },
        shown,
        meta,
      ),
  }
}
