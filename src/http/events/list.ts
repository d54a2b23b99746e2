import type { Content, HttpRequest } from '../exchange.js'
import { entityTagInTurns } from '../finalize-response.js'
import { linkFor, pageLinkFor } from '../body-query.js'
import { CACHE_HEADERS, checkAccept } from '../media.js'
import { JSON_API } from '../problem.js'
import { preferredWait } from '../prefer.js'
import { coalescePerTurn } from '../../async/coalesce.js'
import { eventsOf } from '../../event/event-of-log.js'
import { joinParts } from '../utf8.js'
import { eventsDocument } from './documents.js'
import { extractFieldset } from './fieldset.js'
import type { EventsHandler } from './handler.js'
import { sortWarnings } from './sort-warnings.js'
import type { EventsSource, SourcePage } from './source.js'
import { parseEventsQuery } from './query.js'

/** RFC 7240, sections 2 and 3: `Vary: Prefer`, and `Preference-Applied` for a wait. */
const LIST_HEADERS = {
  'content-type': JSON_API,
  ...CACHE_HEADERS,
  vary: `${CACHE_HEADERS.vary}, Prefer`,
}

/** A page and the document that contains it. */
interface Listed {
  readonly page: SourcePage
  readonly body: Content
  readonly etag: string
}

async function list(
  request: HttpRequest,
  source: EventsSource,
  seconds: number | undefined,
): Promise<Listed> {
  const { fields, rest } = extractFieldset(request.query)
  const query = parseEventsQuery(rest, source.known.list)
  const page = await source.page({ query, fields, seconds })
  const { events, other } = page
  const endpoint = request.hasBodyQuery ? '/search' : ''
  const link = other && pageLinkFor(request, `${source.base}${endpoint}?${other.query}`)
  const links = {
    self: linkFor(request, source.link(endpoint, request.query)),
    ...(link !== undefined && { [other!.name]: link }),
  }
  const found = source.open(events)
  const open = found instanceof Promise ? await found : found
  const warnings = query.sorts.length > 0 ? await sortWarnings(source, query, eventsOf(events)) : []
  const meta = warnings.length > 0 ? { ...page.meta, warnings } : page.meta
  const joined = joinParts(eventsDocument(events, source.pathOf, links, { fields, open, meta }))
  const body = joined instanceof Promise ? await joined : joined
  const tag = entityTagInTurns(body)
  return { page, body, etag: typeof tag === 'string' ? tag : await tag }
}

/** `GET <path>` and `POST <path>/search`: a page of the matching events. */
export function listHandler(): EventsHandler {
  // Many clients request the same page at once, such as dashboards; equal requests share one query, which
  // ends early if all of these clients disconnect.
  const shared = coalescePerTurn<Listed>()

  return async ({ request, identity, source, reportRead }) => {
    checkAccept(request.header('accept'))
    const seconds = preferredWait(request.header('prefer'))
    const key = `${identity}\n${request.hasBodyQuery}\n${request.query}`
    const { page, body, etag } = seconds
      ? await list(request, source(), seconds)
      : await shared(key, request.signal, (signal) => list(request, source(signal), undefined))
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
