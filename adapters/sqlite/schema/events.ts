import { parseEventId } from '../../../src/event/event-id.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { DamageReporter } from '../../../src/store/damage.js'
import type { Connection } from '../connection/connection.js'
import { damagedFile, isUnreadable } from '../connection/database.js'
import { damagedEvent, damagedEventError } from '../../../src/store-kit/damages.js'
import { openRow } from './packed-rows.js'
import {
  EVENT_COLUMNS,
  type EventRow,
  type EventValues,
  isIntact,
  rowToEvent,
  valuesToRow,
} from './rows.js'

/** Reads the table of events, which does not have open live events. */
export interface EventReader {
  /** Events that become visible later have a later time than this. */
  highWater(): Microseconds
  /** The event at the time; `undefined` also if it cannot be read, which is reported. */
  at(time: Microseconds): EventRow | undefined
  /** The row of the values, with texts that may be compressed in them. */
  open(values: EventValues): EventRow
  /** False if the row is damaged, which is reported. */
  check(row: EventRow): boolean
  /** Reads rows one by one after a statement for several has failed; leaves out the unreadable ones. */
  each(times: Iterable<Microseconds>): Generator<EventRow, void>
  /** The time of the event with this id, if the id does not contain the time. */
  foreignTime(id: string): Microseconds | undefined
  /** Throws `DAMAGED` if the event cannot be read. */
  find(id: string): EventRow | undefined
}

const HIGH_WATER_MARK = 'SELECT created_at FROM daybook_high_water'

const SUFFIX_AT = 'SELECT suffix FROM daybook_events WHERE created_at = ?'

const AT = `SELECT ${EVENT_COLUMNS} FROM daybook_events WHERE created_at = ?`

/**
 * The row of a statement over tables of one row, whose columns have whole numbers. Throws an error of a damaged file
 * if there is none, or if a value is invalid.
 */
export const onlyRow = ({ statement }: Connection, sql: string): object =>
  checkRow(statement(sql).get() as object | undefined, sql)

/** Throws an error of a damaged file unless all values of the row are whole numbers. */
export function checkRow<Row extends object>(row: Row | undefined, sql: string): Row {
  if (row && Object.values(row).every(Number.isSafeInteger)) return row
  const tables = [...new Set(sql.match(/daybook_(index|high_water)/g))].join(' or ')
  throw damagedFile(`the row of ${tables} is missing or has no numbers`)
}

export function createEventReader(connection: Connection, damages: DamageReporter): EventReader {
  const { statement } = connection
  const check = (row: EventRow): boolean => {
    if (isIntact(row)) return true
    damages.report(damagedEvent(row.created_at, row.suffix, 'its checksum is wrong'))
    return false
  }

  const suffixAt = (time: Microseconds): unknown => {
    try {
      return (statement(SUFFIX_AT).get(time) as { readonly suffix: unknown } | undefined)?.suffix
    } catch {
      return undefined
    }
  }

  const open = (values: EventValues): EventRow => openRow(connection, valuesToRow(values))

  const at = (time: Microseconds): EventRow | undefined => {
    try {
      const values = statement(AT).raw(true).get(time) as EventValues | undefined
      const row = values && open(values)
      return row && check(row) ? row : undefined
    } catch (error) {
      if (!isUnreadable(error)) throw error
      damages.report(damagedEvent(time, suffixAt(time), (error as Error).message))
      return undefined
    }
  }

  const foreignTime = (id: string): Microseconds | undefined => {
    const row = statement('SELECT created_at FROM daybook_foreign_ids WHERE id = ?').get(id)
    return (row as { created_at: Microseconds } | undefined)?.created_at
  }

  return {
    highWater() {
      return (onlyRow(connection, HIGH_WATER_MARK) as { created_at: Microseconds }).created_at
    },
    at,
    open,
    check,
    *each(times) {
      for (const time of times) {
        const row = at(time)
        if (row) yield row
      }
    },
    foreignTime,
    find(id) {
      const time = foreignTime(id) ?? parseEventId(id)?.time
      if (time === undefined) return undefined
      const row = at(time)
      if (!row && suffixAt(time) !== undefined) throw damagedEventError(id)
      return row && rowToEvent(row).id === id ? row : undefined
    },
  }
}
