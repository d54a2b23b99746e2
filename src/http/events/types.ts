import type { EventTypeDefinition } from '../../event/event-types.js'
import { jsonapi, JSON_API } from '../problem.js'
import type { EventsHandler, HandlerOptions } from './handler.js'
import { staticDocumentHandler } from '../static-document.js'

/** A registered type, without the parts that only the service itself can use. */
function typeResource(type: string, definition: EventTypeDefinition): object {
  const { area, description, data, throttle, cadence, onlyWhile, live, source, sentence } =
    definition
  const attributes = {
    area: area ?? null,
    description: description ?? null,
    // A Standard Schema does not list its keys.
    data: data === undefined || '~standard' in data ? null : data,
    live: live ?? false,
    throttle: throttle ? { period: throttle.period, scope: throttle.scope ?? [] } : null,
    cadence: cadence ?? null,
    only_while: onlyWhile ?? null,
    source: source ?? null,
    sentence: sentence ?? null,
  }
  return { type: 'event_type', id: type, attributes }
}

/** `GET <path>/types`: the registered event types. */
export function typesHandler({ audit, path }: HandlerOptions): EventsHandler {
  return staticDocumentHandler(JSON_API, () => {
    const data = Object.entries(audit.types).map(([type, one]) => typeResource(type, one))
    return JSON.stringify({ jsonapi, data, links: { self: `${path}/types` } })
  })
}
