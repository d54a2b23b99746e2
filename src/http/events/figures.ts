import { linkFor } from '../body-query.js'
import { entityTag } from '../finalize-response.js'
import { checkAccept, jsonResponse } from '../media.js'
import { jsonapi } from '../problem.js'
import { readCountsRequest } from './counts-request.js'
import { readGroupsRequest } from './groups-request.js'
import type { SourceHandler } from './handler.js'
import type { EventsSource } from './source.js'

/** Responds with figures of all matching events. */
const figuresHandler =
  (
    endpoint: string,
    read: (events: EventsSource, query: string) => Promise<{ readonly took_ms: number }>,
  ): SourceHandler =>
  async ({ request, source, reportRead }) => {
    checkAccept(request.header('accept'))
    const events = source()
    const { took_ms, ...figures } = await read(events, request.query)
    await reportRead([])
    const self = linkFor(request, events.link(endpoint, request.query))
    const body = JSON.stringify({ jsonapi, meta: { ...figures, took_ms }, links: { self } })
    const { status, headers } = jsonResponse(200, body)
    // The entity tag ignores `took_ms`.
    const etag = entityTag(JSON.stringify([self, figures]))
    return { status, headers: { ...headers, etag }, body }
  }

/** `GET <path>/counts` and `POST <path>/counts`: counts of all matching events. */
export const countsHandler = figuresHandler('/counts', async (events, query) => {
  const { where, options } = readCountsRequest(query)
  return events.count(where, options)
})

/** `GET <path>/groups`: all matching events, grouped by the values of attributes. */
export const groupsHandler = figuresHandler('/groups', async (events, query) => {
  const { where, options } = readGroupsRequest(query)
  return events.groups(where, options)
})
