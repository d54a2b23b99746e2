import { linkFor } from '../body-query.js'
import { entityTag } from '../finalize-response.js'
import { checkAccept, jsonResponse } from '../media.js'
import { jsonapi } from '../problem.js'
import { readCountsRequest } from './counts-request.js'
import type { SourceHandler } from './handler.js'

/** `GET <path>/counts` and `POST <path>/counts`: counts of all matching events. */
export const countsHandler: SourceHandler = async ({ request, source, reportRead }) => {
  checkAccept(request.header('accept'))
  const events = source()
  const { where, options } = readCountsRequest(request.query)
  const { took_ms, ...counts } = await events.count(where, options)
  await reportRead([])
  const self = linkFor(request, events.link('/counts', request.query))
  const body = JSON.stringify({ jsonapi, meta: { ...counts, took_ms }, links: { self } })
  const { status, headers } = jsonResponse(200, body)
  // The entity tag ignores `took_ms`.
  const etag = entityTag(JSON.stringify([self, counts]))
  return { status, headers: { ...headers, etag }, body }
}
