import { formatTimestamp, parseTimestamp } from '../../event/timestamp.js'
import { existingEvents, upTo } from '../../exporting/existing-events.js'
import { bothOf, type EventQuery, type Grouping, MAX_LIMIT } from '../../filter/ast.js'
import { formatQuery } from '../../filter/format.js'
import { extractParameters } from '../parameters.js'
import { eventsDocument } from './documents.js'
import type { EventsReadOptions, HandlerOptions } from './handler.js'
import { createOpenEventFinder } from './open-events.js'
import type { EventsSource } from './source.js'

/** The path with a query string, if there is one. */
export const withQuery = (path: string, query: string): string =>
  query === '' ? path : `${path}?${query}`

/** The query string of a filter, without a limit. */
export const filterQuery = (where: Grouping | undefined): string =>
  formatQuery({ where, sorts: [], limit: MAX_LIMIT }).replace(/&?limit=\d+$/, '')

/** The events that the user may see of one log. */
export function logSource(
  { audit, path }: HandlerOptions,
  visible: Grouping | undefined,
  reading: EventsReadOptions,
): EventsSource {
  const findOpen = createOpenEventFinder(audit)
  const { types, customTypes, links } = audit
  const lazy = { ...reading, lazy: true }
  const restricted = (query: EventQuery): EventQuery => ({
    ...query,
    where: bothOf(visible, query.where),
  })
  const all = (where: Grouping | undefined): EventQuery => ({ where, sorts: [], limit: MAX_LIMIT })
  return {
    types,
    customTypes,
    links,
    isRestricted: visible !== undefined,
    logOf: undefined,
    list: (query) => audit.list(restricted(query), lazy),
    pages: (query) => audit.pages(restricted(query), lazy),
    // `visible` stays separate from `where`: a facet ignores conditions of the query on itself, never `visible`.
    count: (where, options) => audit.count(all(where), { ...options, ...reading, visible }),
    groups: (where, options) => audit.groups(all(where), { ...options, ...reading, visible }),
    async existing(where) {
      const { query, until } = await existingEvents(audit, where, { ...reading, visible })
      return {
        until,
        pages: () => audit.pages(query, lazy),
        count: (within) => audit.count(query, { ...reading, within }),
        exportQuery: (asOf) => filterQuery(upTo(where, asOf)),
      }
    },
    link: (endpoint, query) => withQuery(path + endpoint, query),
    // Times are unique, so the one before excludes only this event.
    queryBefore(query, { created_at }) {
      const { rest } = extractParameters(query, (name) => name === 'as_of')
      return `${rest}&as_of=${formatTimestamp(parseTimestamp(created_at)! - 1)}`
    },
    open: async (events) => findOpen(events, reading),
    document: (events, links, view) => eventsDocument(events, path, links, view),
  }
}
