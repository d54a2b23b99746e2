import { parseEventId } from '../../../src/event/event-id.js'
import type { EventDraft, ImportedEvent } from '../../../src/event/event.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import { checksumOf } from '../schema/rows.js'

/* The inserts into the table of events. Call them within a write transaction. */

export type NewEvent = Pick<
  EventDraft,
  'suffix' | 'type' | 'username' | 'source' | 'system' | 'json'
>

const INSERT = `INSERT INTO daybook_events (created_at, suffix, type, username, source, system, attributes, checksum)
  VALUES (?, ?, ?, ?, ?, ?, jsonb(?), ?)`

const HIGH_WATER = 'UPDATE daybook_high_water SET created_at = ?, appended = appended + ?'

const COUNT_LATE = 'UPDATE daybook_high_water SET appended = appended + 1'

/** Sets the high-water mark and adds to the number of appended events. */
export function setHighWater(
  { statement }: Connection,
  time: Microseconds,
  inserted: number,
): void {
  statement(HIGH_WATER).run(time, inserted)
}

/** Inserts an event with a time above the high-water mark; the caller updates the mark. */
export function insertEvent({ statement }: Connection, event: NewEvent, time: Microseconds): void {
  const { suffix, type, username, source, json } = event
  const system = event.system ? 1 : 0
  const row = {
    created_at: time,
    suffix,
    type,
    username,
    source,
    system,
    attributes: json,
  } as const
  statement(INSERT).run(time, suffix, type, username, source, system, json, checksumOf(row))
}

/** Inserts an event at any time, and lists it as late for the index. */
export function insertLate(connection: Connection, event: NewEvent, time: Microseconds): void {
  const { statement } = connection
  insertEvent(connection, event, time)
  statement('INSERT INTO daybook_late (created_at) VALUES (?)').run(time)
  statement(COUNT_LATE).run()
}

export function insertImported(connection: Connection, { event, time, json }: ImportedEvent): void {
  const parsed = parseEventId(event.id)
  const isNative = parsed?.time === time
  insertLate(connection, { ...event, json, suffix: isNative ? parsed.suffix : event.id }, time)
  if (!isNative)
    connection.statement('INSERT INTO daybook_foreign_ids VALUES (?, ?)').run(event.id, time)
}
