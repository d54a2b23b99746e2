import { randomUUID } from 'node:crypto'
import type { ImportedEvent } from '../../src/event/event.js'
import { formatTimestamp, parseTimestamp } from '../../src/event/timestamp.js'

const FIRST = parseTimestamp('2025-05-01T10:00:00.000001Z')!
let imports = 0

/** An old event to import, of the type `old`. Each call makes the next one. */
export function oldEvent(): ImportedEvent {
  const time = FIRST + ++imports
  const event = {
    id: randomUUID(),
    created_at: formatTimestamp(time),
    username: null,
    system: true,
    type: 'old',
    source: null,
    attributes: {},
  }
  return { event, time, json: '{}' }
}
