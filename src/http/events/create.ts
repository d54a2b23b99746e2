import { checkMediaType } from '../media.js'
import type { EventsHandler, HandlerOptions } from './handler.js'
import { readIdempotencyKey } from './idempotency-key.js'
import { toClientError, readNewEvent } from './new-event.js'

/** `POST <path>`: creates a custom event. */
export function createHandler({ audit, path }: HandlerOptions): EventsHandler {
  return async ({ request, username }) => {
    checkMediaType(request.header('content-type'))
    const idempotencyKey = readIdempotencyKey(request.header('idempotency-key'))
    const { limits } = audit
    const { type, attributes } = readNewEvent(await request.body(limits.maxBytes), limits)
    const event = await audit
      .recordCustom(type, attributes, { username, idempotencyKey })
      .catch((error: unknown) => {
        throw toClientError(error)
      })
    const headers = event ? { location: `${path}/${event.id}` } : {}
    return { status: 201, headers, body: undefined }
  }
}
