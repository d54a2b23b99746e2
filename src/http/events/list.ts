import { bothOf, type EventQuery, type Grouping, olderThan } from '../../filter/ast.js'
import { formatQuery } from '../../filter/format.js'
import type { EventPage } from '../../store/store.js'
import type { Content, HttpRequest } from '../exchange.js'
import { entityTagInTurns } from '../finalize-response.js'
import { linkFor, pageLinkFor } from '../body-query.js'
import { CACHE_HEADERS, checkAccept } from '../media.js'
import { JSON_API } from '../problem.js'
import { preferredWait } from '../prefer.js'
import { coalescePerTurn } from '../../async/coalesce.js'
import { joinParts } from '../utf8.js'
import { eventsDocument } from './documents.js'
import { type Fieldset, formatFieldset, extractFieldset } from './fieldset.js'
import type { EventsHandler, EventsReadOptions, StreamingHandlerOptions } from './handler.js'
import { withQuery } from './log-source.js'
import { createOpenEventFinder } from './open-events.js'
import { sortWarnings } from './sort-warnings.js'
import { parseEventsQuery } from './query.js'
import { createStreamView } from './stream-view.js'
import { longPoll } from './long-poll.js'

/** RFC 7240, sections 2 and 3: `Vary: Prefer`, and `Preference-Applied` for a wait. */
export const LIST_HEADERS = {
  'content-type': JSON_API,
  ...CACHE_HEADERS,
  vary: `${CACHE_HEADERS.vary}, Prefer`,
}

/** A page and the document that contains it. */
interface Listed {
  readonly page: EventPage
  readonly body: Content
  readonly etag: string
}

/** Equal requests for equal states have the same key. */
const keyOf = (
  { query, hasBodyQuery }: HttpRequest,
  { consistencyToken }: EventsReadOptions,
  visible: Grouping | undefined,
): string => JSON.stringify([query, hasBodyQuery, visible, consistencyToken])

/** `GET <path>` and `POST <path>/search`: a page of the matching events. */
export function listHandler({ audit, path, broadcast }: StreamingHandlerOptions): EventsHandler {
  const findOpen = createOpenEventFinder(audit)

  /** The query of the page before this one, if there is one. */
  const previousQuery = (
    query: EventQuery,
    fields: Fieldset,
    page: EventPage,
  ): string | undefined => {
    if (!page.truncated || query.sorts.length > 0) return undefined
    const where = olderThan(query.where, page.events[0]!.created_at)
    const parameters = [formatQuery({ ...query, where }), formatFieldset(fields)]
    return parameters.filter((text) => text !== '').join('&')
  }

  const list = async (
    request: HttpRequest,
    visible: Grouping | undefined,
    seconds: number | undefined,
    reading: EventsReadOptions,
  ): Promise<Listed> => {
    const { query: queryString } = request
    const { signal } = reading
    const { fields, rest } = extractFieldset(queryString)
    const query = parseEventsQuery(rest)
    const listVisible = (wanted: EventQuery): Promise<EventPage> =>
      audit.list(
        { ...wanted, where: bothOf(visible, wanted.where) },
        { ...reading, lazy: true, durable: seconds !== undefined },
      )
    const read = (): Promise<EventPage> => listVisible(query)
    const page = seconds
      ? await longPoll({
          broadcast,
          view: createStreamView(bothOf(visible, query.where), path),
          query,
          seconds,
          list: read,
          signal,
        })
      : await read()
    const target = request.hasBodyQuery ? `${path}/search` : path
    const previous = previousQuery(query, fields, page)
    const prev = previous && pageLinkFor(request, `${target}?${previous}`)
    const self = linkFor(request, withQuery(target, queryString))
    const links = { self, ...(prev !== undefined && { prev }) }
    const found = findOpen(page.events, reading)
    const open = found instanceof Promise ? await found : found
    const warnings =
      query.sorts.length > 0 ? await sortWarnings({ list: listVisible }, query, page.events) : []
    const view = { fields, open, ...(warnings.length > 0 && { meta: { warnings } }) }
    const joined = joinParts(eventsDocument(page.events, path, links, view))
    const body = joined instanceof Promise ? await joined : joined
    const tag = entityTagInTurns(body)
    return { page, body, etag: typeof tag === 'string' ? tag : await tag }
  }

  // Many clients request the same page at once, such as dashboards; equal requests share one query, which
  // ends early if all of these clients disconnect.
  const shared = coalescePerTurn<Listed>()

  return async ({ request, reading, visible, reportRead }) => {
    checkAccept(request.header('accept'))
    const seconds = preferredWait(request.header('prefer'))
    const { page, body, etag } = seconds
      ? await list(request, visible, seconds, reading)
      : await shared(keyOf(request, reading, visible), request.signal, (signal) =>
          list(request, visible, undefined, { ...reading, signal }),
        )
    const reported = reportRead(page.events)
    if (reported) await reported
    const applied = seconds === undefined ? undefined : { 'preference-applied': `wait=${seconds}` }
    return {
      status: page.truncated ? 206 : 200,
      headers: { ...LIST_HEADERS, etag, ...applied },
      body,
    }
  }
}
