import type { AuditEvent } from '../../src/event.js'
import { eventId, TAIL_LENGTH } from '../../src/event-id.js'
import { formatTimestamp, type Microseconds } from '../../src/timestamp.js'

/** A row of `daybook_events` as {@link EVENT_COLUMNS} selects it. */
export interface EventRow {
  readonly created_at: Microseconds
  readonly tail: string
  readonly type: string
  readonly username: string | null
  readonly source: string | null
  readonly system: 0 | 1
  /** JSON text. */
  readonly attributes: string
}

export const EVENT_COLUMNS =
  'created_at, tail, type, username, source, system, json(attributes) AS attributes'

export function rowToEvent(row: EventRow): AuditEvent {
  return {
    id: row.tail.length === TAIL_LENGTH ? eventId(row.created_at, row.tail) : row.tail,
    created_at: formatTimestamp(row.created_at),
    username: row.username,
    system: row.system === 1,
    type: row.type,
    source: row.source,
    attributes: JSON.parse(row.attributes) as AuditEvent['attributes'],
  }
}
