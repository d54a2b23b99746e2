import type { AuditEvent } from '../../src/event.js'
import { eventId, TAIL_LENGTH } from '../../src/event-id.js'
import { formatTimestamp } from '../../src/timestamp.js'
import type { TextRow } from './client.js'

export const EVENT_COLUMNS = 'created_at, tail, type, username, source, system, attributes'

/** A row of the events as {@link EVENT_COLUMNS} selects it. */
export function rowToEvent(row: TextRow): AuditEvent {
  const [created_at, tail, type, username, source, system, attributes] = row
  const time = Number(created_at)
  return {
    id: tail!.length === TAIL_LENGTH ? eventId(time, tail!) : tail!,
    created_at: formatTimestamp(time),
    username: username!,
    system: system === 't',
    type: type!,
    source: source!,
    attributes: JSON.parse(attributes!) as AuditEvent['attributes'],
  }
}
