import type { JsonObject } from '../../../src/event/event.js'
import { eventId, parseEventId } from '../../../src/event/event-id.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import type { Heartbeat } from '../../../src/coordination/heartbeats.js'
import type { DamageReporter } from '../../../src/store/damage.js'
import { damagedEvent, damagedEventError, openEventFault } from '../../../src/store-kit/damages.js'
import { isNextRevision } from '../../../src/store/live-revision.js'
import type { LiveChange, OpenEvent } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import type { EventTable, NewEvent } from './events.js'
import { applyChange, removeTexts, withTexts } from './live-texts.js'
import type { EventRow } from './rows.js'

/**
 * The table of open live events. Closing an event moves it to the table of events in one transaction.
 * Code that reads both tables reads this one first, so it does not miss an event that closes between
 * the two reads. Call the methods that change the table within a write transaction.
 */
export interface LiveTable {
  insert(event: NewEvent, time: Microseconds): void
  /** Call it within a transaction. */
  at(time: Microseconds): EventRow | undefined
  find(id: string): EventRow | undefined
  /** The open events within the bounds, oldest first. */
  between(bounds: TimeBounds): readonly EventRow[]
  /** The times of the open events within the bounds. */
  timesBetween(bounds: TimeBounds): readonly Microseconds[]
  /** Applies the change, unless it was applied before. Returns false if the event is not open. */
  change(id: string, change: LiveChange): boolean
  /** Adds a heartbeat to each of the events that is open. */
  touch(ids: readonly string[]): void
  /** Moves the event to the table of events, with the `added` attributes. */
  close(id: string, added?: JsonObject): void
  /** Removes the event at this time. */
  remove(time: Microseconds): void
  open(): readonly OpenEvent[]
  heartbeats(): readonly Heartbeat[]
}

interface LiveRow extends EventRow {
  readonly revision: number
  readonly heartbeats: number
}

const COLUMNS =
  'created_at, suffix, type, username, source, system, attributes, revision, heartbeats'

const INSERT = `INSERT INTO daybook_live (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, 0, 0)`

const AT = `SELECT ${COLUMNS} FROM daybook_live WHERE created_at = ?`

const BETWEEN = `SELECT ${COLUMNS} FROM daybook_live WHERE created_at BETWEEN ? AND ? ORDER BY created_at`

const TIMES_BETWEEN =
  'SELECT created_at FROM daybook_live WHERE created_at BETWEEN ? AND ? ORDER BY created_at'

const CHANGE =
  'UPDATE daybook_live SET attributes = ?, revision = ?, heartbeats = heartbeats + 1 WHERE created_at = ?'

const TOUCH =
  'UPDATE daybook_live SET heartbeats = heartbeats + 1 WHERE created_at = ? AND suffix = ?'

const DELETE = 'DELETE FROM daybook_live WHERE created_at = ?'

const ALL = `SELECT ${COLUMNS} FROM daybook_live ORDER BY created_at`

export function createLiveTable(
  connection: Connection,
  events: EventTable,
  damages: DamageReporter,
): LiveTable {
  const { database, statement } = connection
  /** Reads rows and their texts in one snapshot. */
  const inSnapshot = <Result>(act: () => Result): Result =>
    database.inTransaction ? act() : connection.snapshot(act)

  const check = (row: LiveRow): boolean => isReadable(row, damages)

  const rowAt = (time: Microseconds): LiveRow | undefined =>
    statement(AT).get(time) as LiveRow | undefined

  const rowOf = (id: string): LiveRow | undefined => {
    const carried = parseEventId(id)
    const row = carried && rowAt(carried.time)
    if (!row || row.suffix !== carried.suffix) return undefined
    if (!check(row)) throw damagedEventError(id)
    return row
  }

  return {
    insert({ suffix, type, username, source, system, json }, time) {
      statement(INSERT).run(time, suffix, type, username, source, system ? 1 : 0, json)
    },
    at(time) {
      const row = rowAt(time)
      return row && check(row) ? withTexts(connection, row) : undefined
    },
    find(id) {
      // Most events are not open: these need no snapshot.
      if (!rowOf(id)) return undefined
      return inSnapshot(() => {
        const row = rowOf(id)
        return row && withTexts(connection, row)
      })
    },
    between: ({ from, to }) =>
      inSnapshot(() => {
        const rows = statement(BETWEEN).all(from, to) as LiveRow[]
        return rows.filter(check).map((row) => withTexts(connection, row))
      }),
    timesBetween({ from, to }) {
      const rows = statement(TIMES_BETWEEN).all(from, to) as LiveRow[]
      return rows.map((row) => row.created_at)
    },
    change(id, change) {
      const row = rowOf(id)
      if (!row) return false
      if (!isNextRevision(row.revision, change)) return true
      const json = applyChange(connection, row, change)
      statement(CHANGE).run(json, change.revision, row.created_at)
      return true
    },
    touch(ids) {
      const touchOne = statement(TOUCH)
      for (const id of ids) {
        const carried = parseEventId(id)
        if (carried) touchOne.run(carried.time, carried.suffix)
      }
    },
    close(id, added) {
      const row = rowOf(id)
      if (!row) return
      const { attributes, ...rest } = withTexts(connection, row)
      const json = added
        ? JSON.stringify({ ...(JSON.parse(attributes) as JsonObject), ...added })
        : attributes
      const time = row.created_at
      events.insertLate({ ...rest, system: row.system === 1, json }, time)
      removeLive(connection, time)
    },
    remove: (time) => removeLive(connection, time),
    open: () => (statement(ALL).all() as LiveRow[]).filter(check).map(openEventOf),
    heartbeats: () => (statement(ALL).all() as LiveRow[]).filter(check).map(heartbeatOf),
  }
}

function removeLive(connection: Connection, time: Microseconds): void {
  connection.statement(DELETE).run(time)
  removeTexts(connection, time)
}

/** False, and reported, if the row is not one that was written. */
function isReadable(row: LiveRow, damages: DamageReporter): boolean {
  const fault = openEventFault(row)
  if (fault !== undefined) damages.report(damagedEvent(row.created_at, row.suffix, fault))
  return fault === undefined
}

const openEventOf = ({ created_at, suffix, revision }: LiveRow): OpenEvent => ({
  id: eventId(created_at, suffix),
  revision,
})

const heartbeatOf = ({ created_at, suffix, heartbeats }: LiveRow): Heartbeat => ({
  id: eventId(created_at, suffix),
  heartbeats,
})
