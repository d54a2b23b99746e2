import type { Microseconds } from '../../../src/event/timestamp.js'
import { beyond, type TimeBounds } from '../../../src/filter/bounds.js'
import type { Sql } from '../../../src/store-kit/sql.js'
import { isUnreadable } from '../connection/database.js'
import { LIMIT } from '../connection/limit.js'
import { EVENT_COLUMNS, type EventRow, type EventValues } from '../schema/rows.js'
import type { EventReader } from '../schema/events.js'
import type { Tables } from '../schema/log-tables.js'

export type Direction = 'asc' | 'desc'

/** Reads stored rows in one direction. Rows that SQLite cannot read are reported and left out. */
export interface RangeRows {
  /** The part of the bounds that holds the first `count` rows. */
  boundsOfFirst(bounds: TimeBounds, count: number): TimeBounds
  /** Reads the first rows, at most `max`. */
  first(bounds: TimeBounds, max: number): FirstRows
  /**
   * Reads the rows that SQL does not exclude; after a row that SQLite cannot read, all rows. The bounds
   * hold at most `max` rows.
   */
  filtered(bounds: TimeBounds, where: Sql, max: number): Generator<EventRow, void>
}

export interface FirstRows {
  readonly rows: readonly EventRow[]
  /** The number of rows, including those that cannot be read. */
  readonly count: number
  /** The time of the last row. */
  readonly end: Microseconds | undefined
}

// SQL tests attributes that are not compressed and have up to this length, divided by the number of its parameters, so that a step takes
// some milliseconds of this thread. Longer ones pass, to be tested in steps that can pause.
const MAX_SQL_BYTES = 1 << 15

const ORDERS = { asc: 'ASC', desc: 'DESC' } as const

const selectText = (direction: Direction, columns: string, condition = ''): string =>
  `SELECT ${columns} FROM daybook_events WHERE created_at BETWEEN ? AND ?
    ${condition} ORDER BY created_at ${ORDERS[direction]}`

const inBoth = (text: (direction: Direction) => string): Record<Direction, string> => ({
  asc: text('asc'),
  desc: text('desc'),
})

// Built once: looking up a statement is faster with the same string.
const NTH_TIME = inBoth((direction) => `${selectText(direction, 'created_at')} LIMIT 1 OFFSET ?`)
const SELECT_TIMES = inBoth((direction) => `${selectText(direction, 'created_at')} ${LIMIT}`)
const SELECT_FIRST = inBoth((direction) => `${selectText(direction, EVENT_COLUMNS)} ${LIMIT}`)

export function createRangeRows(
  { connection: { statement }, events }: Pick<Tables, 'connection' | 'events'>,
  direction: Direction,
): RangeRows {
  const isDescending = direction === 'desc'

  const firstTimes = ({ from, to }: TimeBounds, max: number): readonly Microseconds[] => {
    const times = statement(SELECT_TIMES[direction]).raw(true).all(from, to, max)
    return (times as [Microseconds][]).map(([time]) => time)
  }

  return {
    boundsOfFirst({ from, to }, count) {
      const found = statement(NTH_TIME[direction]).get(from, to, count - 1)
      if (!found) return { from, to }
      const end = (found as EventRow).created_at
      return isDescending ? { from: end, to } : { from, to: end }
    },

    first({ from, to }, max) {
      try {
        const select = statement(SELECT_FIRST[direction])
        const values = select.raw(true).all(from, to, max) as EventValues[]
        const rows = values.map((one) => events.open(one))
        return { rows, count: values.length, end: values.at(-1)?.[0] }
      } catch (error) {
        if (!isUnreadable(error)) throw error
        const times = firstTimes({ from, to }, max)
        return { rows: [...events.each(times)], count: times.length, end: times.at(-1) }
      }
    },

    filtered({ from, to }, where, max) {
      const condition = `AND CASE WHEN octet_length(attributes) BETWEEN 1 AND ? THEN (${where.text}) ELSE 1 END`
      const maxBytes = MAX_SQL_BYTES / (where.params.length || 1)
      const select = statement(selectText(direction, EVENT_COLUMNS, condition)).raw(true)
      const found = (): Iterable<EventValues> =>
        select.iterate(from, to, maxBytes, ...where.params) as IterableIterator<EventValues>
      const rowsAfter = (last: Microseconds | undefined): Iterable<EventRow> => {
        const rest = last === undefined ? { from, to } : beyond({ from, to }, last, direction)
        return events.each(firstTimes(rest, max))
      }
      return readableRows(events, found, rowsAfter)
    },
  }
}

/** Yields the rows; after a row that SQLite cannot read, the rows that `rowsAfter` returns for the last one. */
function* readableRows(
  { open }: Pick<EventReader, 'open'>,
  found: () => Iterable<EventValues>,
  rowsAfter: (last: Microseconds | undefined) => Iterable<EventRow>,
): Generator<EventRow, void> {
  let last: Microseconds | undefined
  try {
    for (const values of found()) {
      last = values[0]
      yield open(values)
    }
  } catch (error) {
    if (!isUnreadable(error)) throw error
    yield* rowsAfter(last)
  }
}
