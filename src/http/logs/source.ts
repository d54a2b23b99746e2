import type { AuditLogs } from '../../audit-logs.js'
import { byLog, type EventOfLog, eventsOf } from '../../event/event-of-log.js'
import { oldestFirst, upTo } from '../../exporting/existing-events.js'
import type { EventQuery } from '../../filter/ast.js'
import { unionOf } from '../../filter/conceal.js'
import type { Visible } from '../../filter/visible-filter.js'
import { formatPlacesBefore } from '../../logs/cursor.js'
import { FIELDS } from '../events/fieldset.js'
import { concealedSource } from '../events/concealed-source.js'
import { isRestricted, type VisiblePart } from '../events/host-access.js'
import { visibleEvent } from '../../reading/visible-event.js'
import { all, filterQuery, withQuery } from '../events/log-source.js'
import { waitForPage } from '../events/long-poll.js'
import { createOpenEventFinder } from '../events/open-events.js'
import type { EventsSource, SourcePage } from '../events/source.js'
import { joinQueries } from '../parameters.js'
import { logsQuery, type LogsRequest, pathOfLog, withCursor } from './requests.js'
import { createLogsStreams } from './stream.js'

/** Ids that include those of the open live events among these. */
async function openAmong(
  logs: AuditLogs,
  items: readonly EventOfLog[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  const open = new Set<string>()
  for (const [log, events] of byLog(items))
    for (const id of await createOpenEventFinder(logs.log(log!))(events, { signal })) open.add(id)
  return open
}

const KNOWN: EventsSource['known'] = {
  list: `logs[], filter, q, limit, cursor and ${FIELDS}`,
  read: `logs[] and ${FIELDS}`,
  stream: `logs[], filter, q, cursor, after and ${FIELDS}`,
  me: 'logs[]',
}

/** Returns the events of several logs that a user may see, in the order of `created_at`, then of the key of the log. */
export type LogsSources = (
  asked: LogsRequest,
  visible: readonly VisiblePart[],
  signal: AbortSignal,
) => EventsSource

export function createLogsSources(logs: AuditLogs, path: string): LogsSources {
  const base = `${path}/events`
  const pathOf = (log: string | undefined): string => pathOfLog(path, log!)
  const streamOf = createLogsStreams(logs, path)

  return ({ logs: keys, sent, rest, ...range }, visible, signal) => {
    const { cursor, until } = range
    const parts = new Map(keys.map((key, i) => [key, visible[i]!]))
    const named = { logs: keys, visible: (log: string): Visible => parts.get(log)!.given, signal }
    const lazy = { ...named, lazy: true }

    const page = async (query: EventQuery): Promise<SourcePage> => {
      // Before the list, so that a stream from it misses nothing.
      const current = await logs.cursor(named)
      const { cursor: next, ...found } = await logs.list(query, { ...lazy, cursor })
      const name = query.sorts.length === 0 ? 'prev' : 'next'
      const other =
        next === undefined ? undefined : ({ name, query: withCursor(sent, next) } as const)
      return { ...found, meta: { cursor: current }, other }
    }

    const concealed = unionOf(visible.map((part) => part.concealed))
    const source: EventsSource = {
      described: logs,
      isRestricted: visible.some(isRestricted),
      hasLogs: true,
      hasLedger: false,
      base,
      known: KNOWN,
      pathOf,
      link: (endpoint, query) =>
        withQuery(base + endpoint, query === rest ? sent : joinQueries(logsQuery(keys), query)),
      queryBefore: (query, { log, event: { created_at } }) =>
        `${query}&until=${formatPlacesBefore(keys, { log: log!, created_at })}`,
      checkNames() {},
      async read(id) {
        for (const [log, { where }] of parts) {
          const event = await visibleEvent(logs.log(log), id, where, { signal })
          if (event) return { log, event }
        }
        return undefined
      },
      page: ({ query, seconds }) => {
        const list = (): Promise<SourcePage> => page(query)
        if (!seconds) return list()
        const follow = async (ended: AbortSignal) =>
          (await logs.follow({ ...query, sorts: [] }, { ...named, signal: ended })).batches
        return waitForPage({ seconds, list, signal, follow })
      },
      async list(query) {
        const { events } = await logs.list(query, lazy)
        return { events: eventsOf(events) }
      },
      pages: (query) => logs.pages(query, { ...lazy, ...range }),
      count: (where, { visible: _visible, ...options }) =>
        logs.count(all(where), { ...options, ...named, ...range }),
      groups: (where, { visible: _visible, ...options }) =>
        logs.groups(all(where), { ...options, ...named, until }),
      async existing(where) {
        const end = until ?? (await logs.cursor(named))
        const bounded = { ...range, until: end }
        return {
          until: end,
          pages: () => logs.pages(oldestFirst(where), { ...lazy, ...bounded }),
          count: (within) => logs.count(all(where), { ...named, ...bounded, within }),
          // Clients that know no cursors show the same events by the time.
          exportQuery: (asOf) => `${filterQuery(upTo(where, asOf))}&until=${end}`,
        }
      },
      open: (items) => openAmong(logs, items, signal),
      stream: (request, reportRead) =>
        streamOf({ request, named, concealed, cursor, reportRead }, KNOWN.stream),
    }
    return concealed ? concealedSource(source, concealed) : source
  }
}
