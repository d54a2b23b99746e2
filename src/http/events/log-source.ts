import { type EventOfLog, ofOneLog, pagesOfOneLog, eventsOf } from '../../event/event-of-log.js'
import { formatTimestamp, parseTimestamp } from '../../event/timestamp.js'
import { existingEvents, upTo } from '../../exporting/existing-events.js'
import { bothOf, type EventQuery, type Grouping, MAX_LIMIT, olderThan } from '../../filter/ast.js'
import { sealedAtOnce } from '../../privacy/opening.js'
import type { PersonalForm } from '../../reading/personal-values.js'
import { visibleEvent } from '../../reading/visible-event.js'
import { formatQuery } from '../../filter/format.js'
import type { EventPage } from '../../store/store.js'
import { sharedTail } from '../../tail/shared-tail.js'
import { extractParameters, joinQueries } from '../parameters.js'
import { createBroadcast } from '../stream/broadcast.js'
import { FIELDS, type Fieldset, formatFieldset } from './fieldset.js'
import { concealedSource } from './concealed-source.js'
import type { EventsReadOptions, HandlerOptions } from './handler.js'
import type { ShownPart } from './host-access.js'
import { createLogStreams } from './log-stream.js'
import { longPoll } from './long-poll.js'
import { createOpenEventFinder } from './open-events.js'
import { eventFrame } from './server-sent.js'
import { formatPersonal } from './personal-form.js'
import type { EventsSource, SourcePage } from './source.js'
import { createStreamView } from './stream-view.js'

/** The path with a query string, if there is one. */
export const withQuery = (path: string, query: string): string =>
  query === '' ? path : `${path}?${query}`

/** The query string of a filter, without a limit. */
export const filterQuery = (where: Grouping | undefined): string =>
  formatQuery({ where, sorts: [], limit: MAX_LIMIT }).replace(/&?limit=\d+$/, '')

/** The link to the page before this one, if there is one. */
function previous(
  query: EventQuery,
  { fields, personal }: { readonly fields: Fieldset; readonly personal: PersonalForm },
  page: EventPage,
): SourcePage['other'] {
  if (!page.truncated || query.sorts.length > 0) return undefined
  const where = olderThan(query.where, page.events[0]!.created_at)
  const older = joinQueries(
    formatQuery({ ...query, where }),
    formatFieldset(fields),
    formatPersonal(personal),
  )
  return { name: 'prev', query: older }
}

const KNOWN: EventsSource['known'] = {
  list: `filter, q, limit, personal and ${FIELDS}`,
  read: `personal and ${FIELDS}`,
  stream: `filter, q, ${FIELDS}, after and changes`,
  me: undefined,
}

export const all = (where: Grouping | undefined): EventQuery => ({
  where,
  sorts: [],
  limit: MAX_LIMIT,
})

/** Returns the events of one log that a user may see. */
export type LogSources = (part: ShownPart, reading: EventsReadOptions) => EventsSource

export function createLogSources({ audit, path }: HandlerOptions): LogSources {
  const findOpen = createOpenEventFinder(audit)
  const broadcast = createBroadcast(sharedTail(audit.store), (event) =>
    eventFrame(sealedAtOnce(event), path),
  )
  const streamOf = createLogStreams({ audit, path, broadcast })
  const pathOf = (): string => path

  return ({ where: visible, concealed }, given) => {
    const { personal, ...reading } = given
    const { signal, consistencyToken } = reading
    const restricted = (query: EventQuery): EventQuery => ({
      ...query,
      where: bothOf(visible, query.where),
    })
    const list = (query: EventQuery, durable = false): Promise<EventPage> =>
      audit.list(restricted(query), { ...given, lazy: true, durable })
    const pages = (query: EventQuery): AsyncIterable<readonly EventOfLog[]> =>
      pagesOfOneLog(audit.pages(query, { ...given, lazy: true }))
    const source: EventsSource = {
      described: audit,
      isRestricted: visible !== undefined,
      hasLogs: false,
      hasLedger: audit.ledger.vkey !== undefined,
      base: path,
      known: KNOWN,
      pathOf,
      link: (endpoint, query) =>
        withQuery(path + endpoint, joinQueries(query, formatPersonal(personal))),
      // Times are unique, so the one before excludes only this event.
      queryBefore(query, { event }) {
        const { rest } = extractParameters(query, (name) => name === 'as_of')
        return `${rest}&as_of=${formatTimestamp(parseTimestamp(event.created_at)! - 1)}`
      },
      checkNames: (names, parameter) => audit.sealedNames.check(names, parameter),
      async read(id) {
        const event = await visibleEvent(audit, id, visible, given)
        return event && { event }
      },
      async page({ query, fields, seconds }) {
        const current = (): Promise<EventPage> => list(query, seconds !== undefined)
        const wait = (): Promise<EventPage> => {
          const view = createStreamView(bothOf(visible, query.where), path)
          return longPoll({ broadcast, view, query, seconds: seconds!, list: current, signal })
        }
        const page = await (seconds ? wait() : current())
        const { truncated } = page
        // Events that were waited for are as they are stored.
        const events = await audit.openPersonal(page.events, { personal, signal })
        const other = previous(query, { fields, personal }, page)
        return { events: ofOneLog(events), truncated, other }
      },
      list: (query) => list(query),
      pages: (query) => pages(restricted(query)),
      // `visible` stays separate from `where`: a facet ignores conditions of the query on itself, never `visible`.
      async count(where, options) {
        audit.sealedNames.check(options.facets ?? [], 'facets[]')
        return audit.count(all(where), { ...options, ...reading, visible })
      },
      async groups(where, options) {
        audit.sealedNames.check(options.by, 'by[]')
        audit.sealedNames.check(options.numbers ?? [], 'numbers[]')
        return audit.groups(all(where), { ...options, ...reading, visible })
      },
      async existing(where) {
        const { query, until } = await existingEvents(audit, where, { ...reading, visible })
        return {
          until,
          pages: () => pages(query),
          count: (within) => audit.count(query, { ...reading, within }),
          exportQuery: (asOf) => filterQuery(upTo(where, asOf)),
        }
      },
      open: (items) => findOpen(eventsOf(items), reading),
      stream: (request, reportRead) =>
        streamOf({ request, visible, concealed, consistencyToken, reportRead }, KNOWN.stream),
    }
    return concealed ? concealedSource(source, concealed) : source
  }
}
