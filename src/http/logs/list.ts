import type { EventQuery } from '../../filter/ast.js'
import type { LogsPage } from '../../logs/list-across.js'
import { listDocument } from '../events/documents.js'
import { extractFieldset, FIELDS } from '../events/fieldset.js'
import { LIST_HEADERS } from '../events/list.js'
import { parseEventsQuery } from '../events/query.js'
import { sortWarnings } from '../events/sort-warnings.js'
import type { EventsSource } from '../events/source.js'
import { entityTagInTurns } from '../finalize-response.js'
import { linkFor, pageLinkFor } from '../body-query.js'
import { checkAccept } from '../media.js'
import { preferredWait } from '../prefer.js'
import { joinParts } from '../utf8.js'
import type { LogsHandler, LogsHandlerOptions } from './call.js'
import { reportAll, resourceOf, visibleOf } from './handlers.js'
import { longPollLogs } from './long-poll.js'
import { openAmong } from './open-events.js'
import { readLogsRequest, withCursor } from './requests.js'
import { severalLogsSource } from './source.js'

/** A page, and the cursor of the time before it was read. */
interface Listed {
  readonly page: LogsPage
  readonly current: string
}

/** Warnings about the sorts of a list, as for one log. */
const warningsOf = (query: EventQuery, { events }: LogsPage, source: EventsSource) =>
  query.sorts.length === 0
    ? []
    : sortWarnings(
        source,
        query,
        events.map(({ event }) => event),
      )

/** `GET <path>/events` and `POST <path>/events/search`: a page of the matching events of several logs. */
export function listHandler(options: LogsHandlerOptions): LogsHandler {
  const { logs, path } = options
  return async (call) => {
    const { request, allow } = call
    checkAccept(request.header('accept'))
    const seconds = preferredWait(request.header('prefer'))
    const { query: queryString, signal } = request
    const asked = readLogsRequest(queryString, ['cursor'])
    const { fields, rest: unnamed } = extractFieldset(asked.rest)
    const query = parseEventsQuery(unnamed, `logs[], filter, q, limit, cursor and ${FIELDS}`)
    const { logs: named, cursor } = asked
    const filters = await allow(named)
    const visible = visibleOf(filters)
    const list = async (): Promise<Listed> => {
      // Before the list, so that a stream from it misses nothing.
      const current = await logs.cursor({ logs: named, visible, signal })
      return {
        current,
        page: await logs.list(query, { logs: named, visible, cursor, signal, lazy: true }),
      }
    }
    const { page, current } = seconds
      ? await longPollLogs({
          seconds,
          follow: (ended) =>
            logs.follow({ ...query, sorts: [] }, { logs: named, visible, signal: ended }),
          list,
          isEmpty: (listed) => listed.page.events.length === 0,
          signal,
        })
      : await list()
    const open = await openAmong(logs, page.events, signal)
    const source = severalLogsSource(options, asked, { visible: filters, signal })
    const warnings = await warningsOf(query, page, source)
    const self = `${path}/events${request.hasBodyQuery ? '/search' : ''}`
    const name = query.sorts.length === 0 ? 'prev' : 'next'
    const other =
      page.cursor === undefined
        ? undefined
        : pageLinkFor(request, `${self}?${withCursor(queryString, page.cursor)}`)
    const links = {
      self: linkFor(request, `${self}?${queryString}`),
      ...(other !== undefined && { [name]: other }),
    }
    const resourceAt = (index: number): string =>
      resourceOf(options, page.events[index]!, { fields, open })
    const meta = { cursor: current, ...(warnings.length > 0 && { warnings }) }
    const body = await joinParts(
      listDocument({ length: page.events.length, resourceAt }, links, meta),
    )
    await reportAll(call, page.events)
    const etag = await entityTagInTurns(body)
    const applied = seconds === undefined ? undefined : { 'preference-applied': `wait=${seconds}` }
    return {
      status: page.truncated ? 206 : 200,
      headers: { ...LIST_HEADERS, etag, ...applied },
      body,
    }
  }
}
