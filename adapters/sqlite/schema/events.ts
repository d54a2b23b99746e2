import type { EventDraft, ImportedEvent } from '../../../src/event/event.js'
import { parseEventId } from '../../../src/event/event-id.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import { EVENT_COLUMNS, type EventRow, type EventValues, rowToEvent, valuesToRow } from './rows.js'

/**
 * The table of events, without open live events. Call the methods that change it within a write
 * transaction.
 */
export interface EventTable {
  /** Events that become visible later have a later time than this. */
  highWater(): Microseconds
  /** Sets the high-water mark and adds to the number of appended events. */
  setHighWater(time: Microseconds, inserted: number): void
  /** Inserts an event with a time above the high-water mark; the caller updates the mark. */
  insert(event: NewEvent, time: Microseconds): void
  /** Inserts an event at any time, and lists it as late for the index. */
  insertLate(event: NewEvent, time: Microseconds): void
  insertImported(event: ImportedEvent): void
  at(time: Microseconds): EventRow | undefined
  /** The time of the event with this id, if the id does not contain the time. */
  foreignTime(id: string): Microseconds | undefined
  find(id: string): EventRow | undefined
}

export type NewEvent = Pick<
  EventDraft,
  'suffix' | 'type' | 'username' | 'source' | 'system' | 'json'
>

const INSERT = `INSERT INTO daybook_events (created_at, suffix, type, username, source, system, attributes)
  VALUES (?, ?, ?, ?, ?, ?, jsonb(?))`

const HIGH_WATER = 'UPDATE daybook_high_water SET created_at = ?, appended = appended + ?'

const AT = `SELECT ${EVENT_COLUMNS} FROM daybook_events WHERE created_at = ?`

export function createEventTable({ statement }: Connection): EventTable {
  const insert = (event: NewEvent, time: Microseconds): void => {
    const { suffix, type, username, source, system, json } = event
    statement(INSERT).run(time, suffix, type, username, source, system ? 1 : 0, json)
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
      const parsed = parseEventId(event.id)
      const isNative = parsed?.time === time
      insertLate({ ...event, json, suffix: isNative ? parsed.suffix : event.id }, time)
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
