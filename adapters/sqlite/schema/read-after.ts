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

interface Readable {
  readonly connection: Connection
  readonly events: EventReader
}

/** The next rows after a time. Reads them one by one after one that SQLite cannot read. */
export const readAfter = (log: Readable, time: Microseconds, max: number): readonly ReadRow[] =>
  Array.from(rowsAfter(log, time, max))

/** Like {@link readAfter}, but reads each row when it is asked for, as rows may be large. */
export function* rowsAfter(
  { connection: { statement }, events }: Readable,
  time: Microseconds,
  max: number,
): Generator<ReadRow, void> {
  let last = time
  let count = 0
  try {
    for (const values of statement(ROWS).raw(true).iterate(time, max) as Iterable<EventValues>) {
      const row = events.open(values)
      yield { time: values[0], row: events.check(row) ? row : undefined }
      last = values[0]
      count += 1
    }
  } catch (error) {
    if (!isUnreadable(error)) throw error
    const times = statement(TIMES)
      .raw(true)
      .all(last, max - count) as [Microseconds][]
    for (const [one] of times) yield { time: one, row: events.at(one) }
  }
}
