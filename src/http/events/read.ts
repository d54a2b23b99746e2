import { checkAccept, jsonResponse } from '../media.js'
import { refuseParameters } from '../parameters.js'
import { HttpProblem } from '../problem.js'
import { eventDocument } from './documents.js'
import { extractFieldset } from './fieldset.js'
import type { EventsHandler } from './handler.js'

/** `GET <path>/<id>`: one event. */
export const readHandler: EventsHandler = async ({ request, id, source, reportRead }) => {
  checkAccept(request.header('accept'))
  const found = source()
  const { fields, rest } = extractFieldset(request.query)
  refuseParameters(rest, found.known.read)
  const item = await found.read(id)
  if (!item) throw new HttpProblem('NOT_FOUND', `there is no event ${JSON.stringify(id)}`)
  await reportRead([item])
  const open = await found.open([item])
  return jsonResponse(200, eventDocument(item, found.pathOf(item.log), { fields, open }))
}
