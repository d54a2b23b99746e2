import { MAX_LIMIT } from '../../filter/ast.js'
import { entityTag } from '../finalize-response.js'
import { checkAccept, jsonResponse } from '../media.js'
import { jsonapi } from '../problem.js'
import { readCountsRequest } from './counts-request.js'
import type { EventsHandler, HandlerOptions } from './handler.js'

/** `GET <path>/counts`: counts of all matching events. */
export function countsHandler({ audit, path }: HandlerOptions): EventsHandler {
  return async ({ request, reading, visible, reportRead }) => {
    checkAccept(request.header('accept'))
    const { query } = request
    const { where, options } = readCountsRequest(query)
    // `visible` stays separate from `where`: a facet ignores conditions of the query on itself, never `visible`.
    const { took_ms, ...counts } = await audit.count(
      { where, sorts: [], limit: MAX_LIMIT },
      { ...options, ...reading, visible },
    )
    await reportRead([])
    const self = query === '' ? `${path}/counts` : `${path}/counts?${query}`
    const body = JSON.stringify({ jsonapi, meta: { ...counts, took_ms }, links: { self } })
    const { status, headers } = jsonResponse(200, body)
    // The entity tag ignores `took_ms`.
    const etag = entityTag(JSON.stringify([self, counts]))
    return { status, headers: { ...headers, etag }, body }
  }
}
