import { MAX_LIMIT } from '../../filter/ast.js'
import { entityTag } from '../finalize-response.js'
import { checkAccept, jsonResponse } from '../media.js'
import { jsonapi } from '../problem.js'
import { readGroupsRequest } from './groups-request.js'
import type { EventsHandler, HandlerOptions } from './handler.js'

/** `GET <path>/groups`: all matching events, grouped by the values of attributes. */
export function groupsHandler({ audit, path }: HandlerOptions): EventsHandler {
  return async ({ request, reading, visible, reportRead }) => {
    checkAccept(request.header('accept'))
    const { query } = request
    const { where, options } = readGroupsRequest(query)
    const { took_ms, ...groups } = await audit.groups(
      { where, sorts: [], limit: MAX_LIMIT },
      { ...options, ...reading, visible },
    )
    await reportRead([])
    const self = `${path}/groups?${query}`
    const body = JSON.stringify({ jsonapi, meta: { ...groups, took_ms }, links: { self } })
    const { status, headers } = jsonResponse(200, body)
    // The entity tag ignores `took_ms`.
    const etag = entityTag(JSON.stringify([self, groups]))
    return { status, headers: { ...headers, etag }, body }
  }
}
