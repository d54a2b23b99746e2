import { bothOf, type EventQuery, olderThan } from '../../filter/ast.js'
import { formatQuery } from '../../filter/format.js'
import type { EventPage } from '../../store.js'
import type { HttpResponse } from '../exchange.js'
import { checkAccept, json } from '../media.js'
import { preferredWait } from '../prefer.js'
import { eventsDocument } from './documents.js'
import { type Fieldset, formatFieldset, takeFieldset } from './fieldset.js'
import type { EventsHandler, FollowingSetting } from './handler.js'
import { parseEventsQuery } from './query.js'
import { viewOf } from './view.js'
import { listWithin } from './waiting.js'

/** RFC 7240, sections 2 and 3: what the answer depends on, and what was done of it. */
function preferring(response: HttpResponse, seconds: number | undefined): HttpResponse {
  const headers: Record<string, string> = { ...response.headers }
  headers['vary'] = `${headers['vary']}, Prefer`
  if (seconds !== undefined) headers['preference-applied'] = `wait=${seconds}`
  return { ...response, headers }
}

/** `GET <path>`: the events that match. */
export function listHandler({ audit, path, broadcast }: FollowingSetting): EventsHandler {
  /** The page before this one, where paging backwards goes on. */
  const previous = (query: EventQuery, fields: Fieldset, page: EventPage): string | undefined => {
    if (!page.truncated || query.sorts.length > 0) return undefined
    const where = olderThan(query.where, page.events[0]!.created_at)
    const parameters = [formatQuery({ ...query, where }), formatFieldset(fields)]
    return `${path}?${parameters.filter((text) => text !== '').join('&')}`
  }

  return async ({ request, visible, disclose }) => {
    checkAccept(request.header('accept'))
    const { fields, rest } = takeFieldset(request.query)
    const query = parseEventsQuery(rest)
    const where = bothOf(visible, query.where)
    const list = (): Promise<EventPage> => audit.list({ ...query, where }, { lazy: true })
    const seconds = preferredWait(request.header('prefer'))
    const page = seconds
      ? await listWithin({
          broadcast,
          view: viewOf(where, path),
          query,
          seconds,
          list,
          signal: request.signal,
        })
      : await list()
    await disclose(page.events)
    const self = request.query === '' ? path : `${path}?${request.query}`
    const prev = previous(query, fields, page)
    const links = prev === undefined ? { self } : { self, prev }
    const body = eventsDocument(page.events, path, links, fields)
    return preferring(json(page.truncated ? 206 : 200, body), seconds)
  }
}
