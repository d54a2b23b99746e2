import { checkMediaType } from '../media.js'
import type { EventsHandler, HandlerOptions } from './handler.js'
import { CONSISTENCY_TOKEN } from './consistency-token.js'
import { readIdempotencyKey } from './idempotency-key.js'
import { toClientError, readNewEvent } from './new-event.js'
import type { RedactEvent } from './redact-event.js'

export interface CreateHandlerOptions extends HandlerOptions {
  readonly redact: RedactEvent
}

/** `POST <path>`: creates a custom event. */
export function createHandler({ audit, path, redact }: CreateHandlerOptions): EventsHandler {
  return async ({ request, username }) => {
    checkMediaType(request.header('content-type'))
    const idempotencyKey = readIdempotencyKey(request.header('idempotency-key'))
    const { limits } = audit
    const body = await request.body(limits.maxBytes)
    const { type, attributes } = readNewEvent(body, limits, redact)
    const event = await audit
      .recordCustom(type, attributes, { username, idempotencyKey })
      .catch((error: unknown) => {
        throw toClientError(error)
      })
    const stored = event && {
      location: `${path}/${event.id}`,
      [CONSISTENCY_TOKEN]: event.created_at,
    }
    return { status: 201, headers: { 'cache-control': 'no-store', ...stored }, body: undefined }
  }
}
