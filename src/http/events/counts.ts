import { MAX_LIMIT } from '../../filter/ast.js'
import { entityTag } from '../finalize-response.js'
import { checkAccept, jsonResponse } from '../media.js'
import { jsonapi } from '../problem.js'
import { readCountsRequest } from './counts-request.js'
import type { EventsHandler, HandlerOptions } from './handler.js'

/** `GET <path>/counts`: figures over all events that match. */
export function countsHandler({ audit, path }: HandlerOptions): EventsHandler {
  return async ({ request, visible, reportRead }) => {
    checkAccept(request.header('accept'))
    const { query, signal } = request
    const { where, options } = readCountsRequest(query)
    // Not a part of `where`: a facet leaves out what the query says of it, never what the host says.
    const { took_ms, ...figures } = await audit.count(
      { where, sorts: [], limit: MAX_LIMIT },
      { ...options, visible, signal },
    )
    await reportRead([])
    const self = query === '' ? `${path}/counts` : `${path}/counts?${query}`
    const body = JSON.stringify({ jsonapi, meta: { ...figures, took_ms }, links: { self } })
    const { status, headers } = jsonResponse(200, body)
    // How long it took is no difference.
    const etag = entityTag(JSON.stringify([self, figures]))
    return { status, headers: { ...headers, etag }, body }
  }
}
