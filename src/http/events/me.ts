import { checkAccept, jsonResponse } from '../media.js'
import { refuseParameters } from '../parameters.js'
import { jsonapi } from '../problem.js'
import type { EventsHandler, HandlerOptions } from './handler.js'

/** `GET <path>/me`: the authenticated user and their rights. */
export function meHandler({ path }: HandlerOptions): EventsHandler {
  return async ({ request, username, rights }) => {
    checkAccept(request.header('accept'))
    refuseParameters(request.query)
    const data = { type: 'user', id: username, attributes: await rights() }
    return jsonResponse(200, JSON.stringify({ jsonapi, data, links: { self: `${path}/me` } }))
  }
}
