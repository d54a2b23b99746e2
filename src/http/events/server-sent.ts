import type { AuditEvent } from '../../event/event.js'
import type { EventChange } from '../../tail/changes.js'
import { eventResource } from './documents.js'
import type { Fieldset } from './fieldset.js'

/*
 * A server-sent event has one field per line and ends with an empty line (HTML Living Standard, section
 * 9.2). JSON text contains no line breaks.
 */

export const EVENT_STREAM = 'text/event-stream'

export const STREAM_HEADERS = {
  'content-type': `${EVENT_STREAM}; charset=utf-8`,
  'cache-control': 'no-store, no-transform',
  // Prevents nginx from buffering the stream.
  'x-accel-buffering': 'no',
}

/** How soon a client reconnects after its stream has ended. */
export const RETRY = 'retry: 2000\n\n'

/** Ignored by clients; keeps proxies from closing an idle stream. */
export const COMMENT = ':\n\n'

/** The event as a JSON:API document. A client that reconnects sends `id` as `Last-Event-ID`. */
export const resourceFrame = (id: string, resource: string): string =>
  `id: ${id}\ndata: {"data":${resource}}\n\n`

/** The frame of an event of one log. */
export const eventFrame = (event: AuditEvent, path: string, fields?: Fieldset): string =>
  resourceFrame(event.created_at, eventResource({ event }, path, { fields }))

/** Has no `id`, because a client that reconnects continues after the last event, not the last change. */
export function changeFrame({ id, created_at, patch, closed }: EventChange): string {
  return `event: change\ndata: ${JSON.stringify({ id, created_at, patch, closed })}\n\n`
}
