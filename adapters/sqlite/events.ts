import type { EventDraft, ImportedEvent } from '../../src/event.js'
import { parseEventId } from '../../src/event-id.js'
import type { Microseconds } from '../../src/timestamp.js'
import type { Connection } from './connection.js'
import { EVENT_COLUMNS, type EventRow, rowToEvent } from './rows.js'

/** The table of the events that change no more. What changes it belongs into a write transaction. */
export interface EventTable {
  /** No event that becomes visible from now on has a time up to this. */
  highWater(): Microseconds
  setHighWater(time: Microseconds): void
  insert(event: NewEvent, time: Microseconds): void
  insertImported(event: ImportedEvent): void
  at(time: Microseconds): EventRow | undefined
  /** By its id, wherever the time is found. */
  find(id: string): EventRow | undefined
}

export type NewEvent = Pick<EventDraft, 'tail' | 'type' | 'username' | 'source' | 'system' | 'json'>

const INSERT = `INSERT INTO daybook_events (created_at, tail, type, username, source, system, attributes)
  VALUES (?, ?, ?, ?, ?, ?, jsonb(?))`

const AT = `SELECT ${EVENT_COLUMNS} FROM daybook_events WHERE created_at = ?`

export function createEventTable({ statement }: Connection): EventTable {
  const insert = (event: NewEvent, time: Microseconds): void => {
    const { tail, type, username, source, system, json } = event
    statement(INSERT).run(time, tail, type, username, source, system ? 1 : 0, json)
  }

  const at = (time: Microseconds): EventRow | undefined =>
    statement(AT).get(time) as EventRow | undefined

  return {
    highWater() {
      const row = statement('SELECT created_at FROM daybook_high_water').get()
      return (row as { created_at: Microseconds }).created_at
    },
    setHighWater(time) {
      statement('UPDATE daybook_high_water SET created_at = ?').run(time)
    },
    insert,
    insertImported({ event, time, json }) {
      const carried = parseEventId(event.id)
      const isNative = carried?.time === time
      insert({ ...event, json, tail: isNative ? carried.tail : event.id }, time)
      if (!isNative) statement('INSERT INTO daybook_foreign_ids VALUES (?, ?)').run(event.id, time)
    },
    at,
    find(id) {
      const foreign = statement('SELECT created_at FROM daybook_foreign_ids WHERE id = ?').get(id)
      const time =
        (foreign as { created_at: Microseconds } | undefined)?.created_at ?? parseEventId(id)?.time
      const row = time === undefined ? undefined : at(time)
      return row && rowToEvent(row).id === id ? row : undefined
    },
  }
}
