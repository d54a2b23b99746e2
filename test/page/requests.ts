import { type AuditEvent, formatTimestamp, type JsonObject } from 'daybook'
import { eventId } from '../../src/event/event-id.js'

export interface RequestGiven {
  readonly path: string
  readonly status: number
  readonly ms?: number
  readonly username?: string | null
  readonly more?: JsonObject
}

const MINUTE = 60_000_000

/** Events of requests, a minute apart. The last one was a minute ago. */
export function requestEvents(given: readonly RequestGiven[]): AuditEvent[] {
  const end = Date.now() * 1000
  return given.map(({ path, status, ms = 10, username = 'ann', more }, i) => {
    const time = end - (given.length - i) * MINUTE
    return {
      id: eventId(time, '8000000000000000'),
      created_at: formatTimestamp(time),
      username,
      system: true,
      type: status >= 500 ? 'error:api:controller:unhandled' : 'api:projects:show',
      source: null,
      attributes: {
        request_method: 'GET',
        request_path: path,
        response_status: status,
        duration_ms: ms,
        ...more,
      },
    }
  })
}
