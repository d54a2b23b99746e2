import { entityTag } from '../finalize-response.js'
import { checkAccept, jsonResponse } from '../media.js'
import { jsonapi } from '../problem.js'
import { readGroupsRequest } from './groups-request.js'
import type { SourceHandler } from './handler.js'

/** `GET <path>/groups`: all matching events, grouped by the values of attributes. */
export const groupsHandler: SourceHandler = async ({ request, source, reportRead }) => {
  checkAccept(request.header('accept'))
  const events = source()
  const { where, options } = readGroupsRequest(request.query)
  const { took_ms, ...groups } = await events.groups(where, options)
  await reportRead([])
  const self = events.link('/groups', request.query)
  const body = JSON.stringify({ jsonapi, meta: { ...groups, took_ms }, links: { self } })
  const { status, headers } = jsonResponse(200, body)
  // The entity tag ignores `took_ms`.
  const etag = entityTag(JSON.stringify([self, groups]))
  return { status, headers: { ...headers, etag }, body }
}
