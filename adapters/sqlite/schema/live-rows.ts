import type { JsonObject } from '../../../src/event/event.js'
import { eventId, parseEventId } from '../../../src/event/event-id.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import type { Heartbeat } from '../../../src/coordination/heartbeats.js'
import type { DamageReporter } from '../../../src/store/damage.js'
import { damagedEvent, damagedEventError, openEventFault } from '../../../src/store-kit/damages.js'
import type { OpenEvent } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import type { EventRow } from './rows.js'

/** The row of an open live event, without the texts that were appended to its attributes. */
export interface LiveRow extends EventRow {
  readonly revision: number
  readonly heartbeats: number
}

/**
 * Reads the table of open live events. Code that reads both tables reads this one first, so it does not miss an event that
 * closes between the two reads.
 */
export interface LiveReader {
  /** The row of the event; `undefined` if it is not open. Throws `DAMAGED` if it cannot be read. */
  row(id: string): LiveRow | undefined
  /** Call it within a transaction. */
  at(time: Microseconds): EventRow | undefined
  find(id: string): EventRow | undefined
  /** The open events within the bounds, oldest first. */
  between(bounds: TimeBounds): readonly EventRow[]
  /** The times of the open events within the bounds. */
  timesBetween(bounds: TimeBounds): readonly Microseconds[]
  open(): readonly OpenEvent[]
  heartbeats(): readonly Heartbeat[]
}

export const LIVE_COLUMNS =
  'created_at, suffix, type, username, source, system, attributes, revision, heartbeats'
const AT = `SELECT ${LIVE_COLUMNS} FROM daybook_live WHERE created_at = ?`
const BETWEEN = `SELECT ${LIVE_COLUMNS} FROM daybook_live WHERE created_at BETWEEN ? AND ? ORDER BY created_at`
const TIMES_BETWEEN =
  'SELECT created_at FROM daybook_live WHERE created_at BETWEEN ? AND ? ORDER BY created_at'
const ALL = `SELECT ${LIVE_COLUMNS} FROM daybook_live ORDER BY created_at`
const TEXTS =
  'SELECT key, text FROM daybook_live_texts WHERE created_at = ? ORDER BY revision, position'

export function createLiveReader(connection: Connection, damages: DamageReporter): LiveReader {
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
  const all = (): LiveRow[] => (statement(ALL).all() as LiveRow[]).filter(check)

  return {
    row: rowOf,
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
    open: () =>
      all().map(({ created_at, suffix, revision }) => ({
        id: eventId(created_at, suffix),
        revision,
      })),
    heartbeats: () =>
      all().map(({ created_at, suffix, heartbeats }) => ({
        id: eventId(created_at, suffix),
        heartbeats,
      })),
  }
}

/** False, and reported, if the row is not one that was written. */
function isReadable(row: LiveRow, damages: DamageReporter): boolean {
  const fault = openEventFault(row)
  if (fault !== undefined) damages.report(damagedEvent(row.created_at, row.suffix, fault))
  return fault === undefined
}

/** The row with its appended texts in the attributes. */
export function withTexts<Row extends EventRow>({ statement }: Connection, row: Row): Row {
  const texts = statement(TEXTS).all(row.created_at) as {
    readonly key: string
    readonly text: string
  }[]
  if (texts.length === 0) return row
  const base = membersOf(row.attributes)
  for (const { key, text } of texts) {
    const before = base.get(key)
    base.set(key, typeof before === 'string' ? before + text : text)
  }
  return { ...row, attributes: JSON.stringify(Object.fromEntries(base)) }
}

/** The members of a JSON object, in their order. */
export const membersOf = (json: string): Map<string, JsonObject[string]> =>
  new Map(Object.entries(JSON.parse(json) as JsonObject))
