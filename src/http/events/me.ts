import { checkAccept, jsonResponse } from '../media.js'
import { refuseParameters } from '../parameters.js'
import { jsonapi } from '../problem.js'
import type { EventsHandler } from './handler.js'

/** `GET <path>/me`: the authenticated user and their rights. */
export const meHandler: EventsHandler = async ({ request, username, source, rights }) => {
  checkAccept(request.header('accept'))
  const found = source()
  refuseParameters(request.query, found.known.me)
  const { may, restricted } = await rights()
  const ledger = found.hasLedger && may.read && !restricted
  const data = { type: 'user', id: username, attributes: { may, restricted, ledger } }
  return jsonResponse(
    200,
    JSON.stringify({ jsonapi, data, links: { self: found.link('/me', request.query) } }),
  )
}
