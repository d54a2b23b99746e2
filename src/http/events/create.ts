import { checkMediaType } from '../media.js'
import type { EventsHandler, EventsSetting } from './handler.js'
import { inDocument, readNewEvent } from './new-event.js'

/** `POST <path>`: creates a custom event. */
export function createHandler({ audit, path }: EventsSetting): EventsHandler {
  return async ({ request, username }) => {
    checkMediaType(request.header('content-type'))
    const { maxBytes, maxDepth } = audit.limits
    const { type, attributes } = readNewEvent(await request.body(maxBytes), maxDepth)
    const event = await audit
      .recordCustom(type, attributes, { username })
      .catch((error: unknown) => {
        throw inDocument(error)
      })
    const headers = event ? { location: `${path}/${event.id}` } : {}
    return { status: 201, headers, body: undefined }
  }
}
