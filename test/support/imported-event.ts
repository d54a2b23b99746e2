import { randomUUID } from 'node:crypto'
import type { AuditEvent, ImportedEvent } from '../../src/event/event.js'
import { formatTimestamp, type Microseconds, parseTimestamp } from '../../src/event/timestamp.js'

const FIRST = parseTimestamp('2025-05-01T10:00:00.000001Z')!
let imports = 0

/** An event of the type `old` for `importEvents` of a log. */
export const eventAt = (time: Microseconds, own: Partial<AuditEvent> = {}): AuditEvent => ({
  id: randomUUID(),
  created_at: formatTimestamp(time),
  username: null,
  system: true,
  type: 'old',
  source: null,
  attributes: {},
  ...own,
})

/** An event of the type `old` for an import. Each call creates the next event. */
export function oldEvent(): ImportedEvent {
  const time = FIRST + ++imports
  return { event: eventAt(time), time, json: '{}' }
}
