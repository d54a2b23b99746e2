import type { AuditEvent } from '../../event/event.js'
import type { EventChange } from '../../tail/changes.js'
import { eventResource } from './documents.js'
import type { Fieldset } from './fieldset.js'

/*
 * The fields of a server-sent event, one on each line, and an empty line behind them: HTML Living
 * Standard, section 9.2. JSON text has no line breaks of its own.
 */

export const EVENT_STREAM = 'text/event-stream'

/** How soon a client comes back whose stream has ended. */
export const RETRY = 'retry: 2000\n\n'

/** Clients pass it over; what stands between them and us sees that the stream lives. */
export const COMMENT = ':\n\n'

/** The event as a JSON:API document. Its id is where a client goes on that comes back. */
export function eventFrame(event: AuditEvent, path: string, fields?: Fieldset): string {
  const data = `{"data":${eventResource(event, path, { fields })}}`
  return `id: ${event.created_at}\ndata: ${data}\n\n`
}

/** Has no id: a client that comes back goes on behind the last event, not the last change. */
export function changeFrame({ id, created_at, patch, closed }: EventChange): string {
  return `event: change\ndata: ${JSON.stringify({ id, created_at, patch, closed })}\n\n`
}
