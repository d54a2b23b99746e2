import type { ImportedEvent } from '../../../src/event/event.js'
import { freshEvents } from '../../../src/event/importing.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { ImportResult } from '../../../src/store/store.js'
import { rowToEvent } from '../schema/rows.js'
import { insertImported, setHighWater } from './insert.js'
import type { Tables } from '../schema/log-tables.js'

/** See `EventStore.importEvents`. Call it within a write transaction. */
export function importEvents(
  { connection, live, events }: Tables,
  imported: readonly ImportedEvent[],
  now: Microseconds,
): ImportResult {
  const fresh = freshEvents(imported, now, {
    at: (time) => {
      const row = live.at(time) ?? events.at(time)
      return row && { event: rowToEvent(row), json: row.attributes }
    },
    hasId: (id) => live.find(id) !== undefined || events.find(id) !== undefined,
  })
  let highWater = events.highWater()
  for (const event of fresh) {
    insertImported(connection, event)
    highWater = Math.max(highWater, event.time)
  }
  setHighWater(connection, highWater, 0)
  return { imported: fresh.length, skipped: imported.length - fresh.length }
}
