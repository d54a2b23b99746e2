import { AuditLogError } from '../../errors.js'
import type { AuditEvent } from '../../event/event.js'
import type { Grouping } from '../../filter/ast.js'
import { compileFilter } from '../../filter/evaluate.js'
import type { ReadOptions } from '../../store/store.js'
import { checkAccept, jsonResponse } from '../media.js'
import { refuseParameters } from '../parameters.js'
import { HttpProblem } from '../problem.js'
import { eventDocument } from './documents.js'
import { createOpenEventFinder } from './open-events.js'
import { FIELDS, extractFieldset } from './fieldset.js'
import type { EndpointAudit, EventsHandler, HandlerOptions } from './handler.js'

/**
 * The event, if the user may see it. A damaged one may be hidden, so a restricted reader does not learn that it exists.
 * Otherwise rejects as `get` does.
 */
export async function visibleEvent(
  log: Pick<EndpointAudit, 'get'>,
  id: string,
  visible: Grouping | undefined,
  options?: ReadOptions,
): Promise<AuditEvent | undefined> {
  try {
    const event = await log.get(id, options)
    return event && compileFilter(visible)(event) ? event : undefined
  } catch (error) {
    if (visible && error instanceof AuditLogError && error.code === 'DAMAGED') return undefined
    throw error
  }
}

/** `GET <path>/<id>`: one event. */
export function readHandler({ audit, path }: HandlerOptions): EventsHandler {
  const findOpen = createOpenEventFinder(audit)
  return async ({ request, reading, id, visible, reportRead }) => {
    checkAccept(request.header('accept'))
    const { fields, rest } = extractFieldset(request.query)
    refuseParameters(rest, FIELDS)
    const event = await visibleEvent(audit, id, visible, reading)
    if (!event) throw new HttpProblem('NOT_FOUND', `there is no event ${JSON.stringify(id)}`)
    await reportRead([event])
    const open = await findOpen([event], reading)
    return jsonResponse(200, eventDocument(event, path, { fields, open }))
  }
}
