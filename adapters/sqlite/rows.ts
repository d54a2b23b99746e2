import type { AuditEvent } from '../../src/event.js'
import { eventId } from '../../src/event-id.js'
import { formatTimestamp, type Microseconds } from '../../src/timestamp.js'

/** A row of `daybook_events` as {@link EVENT_COLUMNS} selects it. */
export interface EventRow {
  readonly created_at: Microseconds
  readonly tail: Uint8Array
  readonly type: string
  readonly username: string | null
  readonly source: string | null
  readonly system: 0 | 1
  /** JSON text. */
  readonly attributes: string
}

export const EVENT_COLUMNS =
  'created_at, tail, type, username, source, system, json(attributes) AS attributes'

const UUID_BYTES = 16

function rowId({ created_at, tail }: EventRow): string {
  const hex = Buffer.from(tail.buffer, tail.byteOffset, tail.byteLength).toString('hex')
  if (tail.length < UUID_BYTES) return eventId(created_at, hex)
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

export function rowToEvent(row: EventRow): AuditEvent {
  return {
    id: rowId(row),
    created_at: formatTimestamp(row.created_at),
    username: row.username,
    system: row.system === 1,
    type: row.type,
    source: row.source,
    attributes: JSON.parse(row.attributes) as AuditEvent['attributes'],
  }
}
