import type { EventDraft, ImportedEvent } from '../../../src/event/event.js'
import { parseEventId } from '../../../src/event/event-id.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import { EVENT_COLUMNS, type EventRow, type EventValues, rowToEvent, valuesToRow } from './rows.js'

/** The table of the events that change no more. What changes it belongs into a write transaction. */
export interface EventTable {
  /** No event that becomes visible from now on has a time up to this. */
  highWater(): Microseconds
  /** Also tells how many have been inserted by `insert`. */
  setHighWater(time: Microseconds, inserted: number): void
  /** Keeps it behind all that there is. */
  insert(event: NewEvent, time: Microseconds): void
  /** Keeps it wherever its time leads. */
  insertLate(event: NewEvent, time: Microseconds): void
  insertImported(event: ImportedEvent): void
  at(time: Microseconds): EventRow | undefined
  /** That of an event whose id does not carry it. */
  foreignTime(id: string): Microseconds | undefined
  /** By its id, wherever the time is found. */
  find(id: string): EventRow | undefined
}

export type NewEvent = Pick<EventDraft, 'tail' | 'type' | 'username' | 'source' | 'system' | 'json'>

const INSERT = `INSERT INTO daybook_events (created_at, tail, type, username, source, system, attributes)
  VALUES (?, ?, ?, ?, ?, ?, jsonb(?))`

const HIGH_WATER = 'UPDATE daybook_high_water SET created_at = ?, appended = appended + ?'

const AT = `SELECT ${EVENT_COLUMNS} FROM daybook_events WHERE created_at = ?`

export function createEventTable({ statement }: Connection): EventTable {
  const insert = (event: NewEvent, time: Microseconds): void => {
    const { tail, type, username, source, system, json } = event
    statement(INSERT).run(time, tail, type, username, source, system ? 1 : 0, json)
  }

  const insertLate = (event: NewEvent, time: Microseconds): void => {
    insert(event, time)
    statement('INSERT INTO daybook_late (created_at) VALUES (?)').run(time)
    statement('UPDATE daybook_high_water SET appended = appended + 1').run()
  }

  const at = (time: Microseconds): EventRow | undefined => {
    const values = statement(AT).raw(true).get(time) as EventValues | undefined
    return values && valuesToRow(values)
  }

  const foreignTime = (id: string): Microseconds | undefined => {
    const row = statement('SELECT created_at FROM daybook_foreign_ids WHERE id = ?').get(id)
    return (row as { created_at: Microseconds } | undefined)?.created_at
  }

  return {
    highWater() {
      const row = statement('SELECT created_at FROM daybook_high_water').get()
      return (row as { created_at: Microseconds }).created_at
    },
    setHighWater(time, inserted) {
      statement(HIGH_WATER).run(time, inserted)
    },
    insert,
    insertLate,
    insertImported({ event, time, json }) {
      const carried = parseEventId(event.id)
      const isNative = carried?.time === time
      insertLate({ ...event, json, tail: isNative ? carried.tail : event.id }, time)
      if (!isNative) statement('INSERT INTO daybook_foreign_ids VALUES (?, ?)').run(event.id, time)
    },
    at,
    foreignTime,
    find(id) {
      const time = foreignTime(id) ?? parseEventId(id)?.time
      const row = time === undefined ? undefined : at(time)
      return row && rowToEvent(row).id === id ? row : undefined
    },
  }
}
