import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import { isUnreadable } from '../connection/database.js'
import { LIMIT } from '../connection/limit.js'
import type { EventReader } from './events.js'
import { EVENT_COLUMNS, type EventRow, type EventValues } from './rows.js'

const ROWS = `SELECT ${EVENT_COLUMNS} FROM daybook_events WHERE created_at > ?
  ORDER BY created_at ${LIMIT}`

const TIMES = `SELECT created_at FROM daybook_events WHERE created_at > ? ORDER BY created_at ${LIMIT}`

/** A row of the table of events; `undefined` if it cannot be read, or was removed meanwhile. */
export interface ReadRow {
  readonly time: Microseconds
  readonly row: EventRow | undefined
}

/** The next rows after a time. Reads them one by one if SQLite cannot read some of them. */
export function readAfter(
  {
    connection: { statement },
    events,
  }: { readonly connection: Connection; readonly events: EventReader },
  time: Microseconds,
  max: number,
): readonly ReadRow[] {
  try {
    const values = statement(ROWS).raw(true).all(time, max) as EventValues[]
    return values.map((one) => {
      const row = events.open(one)
      return { time: one[0], row: events.check(row) ? row : undefined }
    })
  } catch (error) {
    if (!isUnreadable(error)) throw error
    const times = statement(TIMES).raw(true).all(time, max) as [Microseconds][]
    return times.map(([one]) => ({ time: one, row: events.at(one) }))
  }
}
