import { bothOf, type EventQuery, olderThan } from '../../filter/ast.js'
import { formatQuery } from '../../filter/format.js'
import { parseQuery } from '../../filter/parse.js'
import type { EventPage } from '../../store.js'
import { checkAccept, json } from '../media.js'
import { eventsDocument } from './documents.js'
import { type Fieldset, formatFieldset, takeFieldset } from './fieldset.js'
import type { EventsHandler, EventsSetting } from './handler.js'

/** `GET <path>`: the events that match. */
export function listHandler({ audit, path }: EventsSetting): EventsHandler {
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
    const query = parseQuery(rest, { strict: true })
    const page = await audit.list({ ...query, where: bothOf(visible, query.where) })
    await disclose(page.events)
    const self = request.query === '' ? path : `${path}?${request.query}`
    const prev = previous(query, fields, page)
    const links = prev === undefined ? { self } : { self, prev }
    return json(page.truncated ? 206 : 200, eventsDocument(page.events, path, links, fields))
  }
}
