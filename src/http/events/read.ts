import { compileFilter } from '../../filter/evaluate.js'
import { checkAccept, jsonResponse } from '../media.js'
import { refuseParameters } from '../parameters.js'
import { HttpProblem } from '../problem.js'
import { eventDocument } from './documents.js'
import { createOpenEventFinder } from './open-events.js'
import { FIELDS, extractFieldset } from './fieldset.js'
import type { EventsHandler, HandlerOptions } from './handler.js'

/** `GET <path>/<id>`: one event. */
export function readHandler({ audit, path }: HandlerOptions): EventsHandler {
  const findOpen = createOpenEventFinder(audit)
  return async ({ request, reading, id, visible, reportRead }) => {
    checkAccept(request.header('accept'))
    const { fields, rest } = extractFieldset(request.query)
    refuseParameters(rest, FIELDS)
    const event = await audit.get(id, reading)
    if (!event || !compileFilter(visible)(event))
      throw new HttpProblem('NOT_FOUND', `there is no event ${JSON.stringify(id)}`)
    await reportRead([event])
    const open = await findOpen([event], reading)
    return jsonResponse(200, eventDocument(event, path, { fields, open }))
  }
}
