import type { AuditEvent } from '../../../../src/event/event.js'
import { plainEvent } from '../../../support/plain-events.js'

/** Events one minute apart, newest first. The newest has the number `count`. */
export function newestFirst(count: number): AuditEvent[] {
  return Array.from({ length: count }, (_, i) => eventOfMinute(count - i))
}

/** The event at a minute of 20 November 2026. */
export function eventOfMinute(minute: number, more: Partial<AuditEvent> = {}): AuditEvent {
  const at = new Date(Date.UTC(2026, 10, 20, 0, minute)).toISOString().replace('Z', '000Z')
  const id = `event-${minute}`
  return plainEvent({ id, created_at: at, username: 'ann', type: 'api:changes:create', ...more })
}
