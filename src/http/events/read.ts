import { compileFilter } from '../../filter/evaluate.js'
import { checkAccept, json } from '../media.js'
import { refuseParameters } from '../parameters.js'
import { HttpProblem } from '../problem.js'
import { eventDocument } from './documents.js'
import { openFinder } from './open-events.js'
import { FIELDS, takeFieldset } from './fieldset.js'
import type { EventsHandler, EventsSetting } from './handler.js'

/** `GET <path>/<id>`: one event. */
export function readHandler({ audit, path }: EventsSetting): EventsHandler {
  const openAmong = openFinder(audit)
  return async ({ request, id, visible, disclose }) => {
    checkAccept(request.header('accept'))
    const { fields, rest } = takeFieldset(request.query)
    refuseParameters(rest, FIELDS)
    const event = await audit.get(id)
    if (!event || !compileFilter(visible)(event))
      throw new HttpProblem('NOT_FOUND', `there is no event ${JSON.stringify(id)}`)
    await disclose([event])
    const open = await openAmong([event])
    return json(200, eventDocument(event, path, { fields, open }))
  }
}
