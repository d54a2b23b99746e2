import { beyond, type TimeBounds } from '../../../src/filter/bounds.js'
import { type Sql, sql } from '../../../src/store-kit/sql.js'
import type { Order } from '../../../src/store-kit/index/part.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { type ListQuery, BATCH_ROWS, timeOf } from './list-query.js'
import type { TextRow } from '../connection/client.js'
import { STORED_COLUMNS } from '../schema/rows.js'
import { BY_TABLE, within, withinMost } from './ranges.js'
import { allOf } from './sql.js'

const SQL_ORDER = { asc: 'ASC', desc: 'DESC' } as const

type Filtered = Pick<ListQuery, 'where' | 'indexed'>

/** The result of reading the first rows of the order. */
export interface Probe {
  /** Rows that pass the SQL filter, up to the maximum. */
  readonly rows: readonly TextRow[]
  /** The time of the last row that was read; `undefined` if the maximum was reached or no row follows. */
  readonly last: Microseconds | undefined
}

export interface ProbeRequest {
  readonly order: Order
  readonly bounds: TimeBounds
  readonly count: number
  readonly most: number
}

/**
 * Reads the first `count` rows of the order, but stops once `most` of them have passed the filter. If
 * fewer rows pass, one more row follows: it has the time of the last row read, and NULLs.
 */
export function probeStatement(
  { where, indexed: { names } }: Filtered,
  { order, bounds, count, most }: ProbeRequest,
): Sql {
  const range = within(bounds)
  const condition = where ?? sql('TRUE')
  // The rows of `first` are read once, and no further than the outer limit needs.
  return sql(
    `WITH first AS MATERIALIZED (
       SELECT ${STORED_COLUMNS} FROM ${names.events} WHERE ${range.text}
       ORDER BY created_at ${SQL_ORDER[order]} LIMIT ${count}
     )
     SELECT * FROM (
       (SELECT ${STORED_COLUMNS} FROM first WHERE ${condition.text} LIMIT ${most})
       UNION ALL
       (SELECT created_at, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM first OFFSET ${count - 1} LIMIT 1)
     ) AS found LIMIT ${most}`,
    ...range.params,
    ...condition.params,
  )
}

export function readProbe(found: readonly TextRow[]): Probe {
  const end = found.at(-1)
  return end?.[1] === null
    ? { rows: found.slice(0, -1), last: timeOf(end) }
    : { rows: found, last: undefined }
}

/** The first `size` rows of the order that pass the SQL filter. */
export function scanStatement(
  { where, indexed: { names } }: Filtered,
  order: Order,
  bounds: TimeBounds,
  size: number,
): Sql {
  const { text, params } = allOf(within(bounds), where)
  return sql(
    `SELECT ${STORED_COLUMNS} FROM ${names.events} WHERE ${text}
     ORDER BY created_at ${SQL_ORDER[order]} LIMIT ${size}`,
    ...params,
  )
}

/** All rows within the bounds, one after the other, that pass the SQL filter, in order, in batches. `first` is the first one. */
export async function* scanRows(
  list: ListQuery,
  order: Order,
  parts: readonly TimeBounds[],
  first?: readonly TextRow[],
): AsyncGenerator<readonly TextRow[]> {
  let ready = first
  let size = list.query.limit + 1
  for (const part of parts)
    for (let rest = part; rest.from <= rest.to; size = Math.min(2 * size, BATCH_ROWS)) {
      const rows = ready ?? (await list.run(scanStatement(list, order, rest, size)))
      ready = undefined
      yield rows
      if (rows.length < size) break
      rest = beyond(rest, timeOf(rows.at(-1)!), order)
    }
}

/** All rows that pass the SQL filter, in any order, by a sequential scan. To be called once in a snapshot. */
export async function* sweepRows(
  { run, where, indexed: { names } }: ListQuery,
  bounds: TimeBounds,
): AsyncGenerator<readonly TextRow[]> {
  await run(BY_TABLE)
  const { text, params }: Sql = allOf(withinMost(bounds), where)
  // All rows will be fetched: https://www.postgresql.org/docs/current/runtime-config-query.html
  await run(sql('SET LOCAL cursor_tuple_fraction = 1'))
  await run(
    sql(
      `DECLARE matching NO SCROLL CURSOR FOR
       SELECT ${STORED_COLUMNS} FROM ${names.events} WHERE ${text}`,
      ...params,
    ),
  )
  for (;;) {
    const rows = await run(sql(`FETCH ${BATCH_ROWS} FROM matching`))
    yield rows
    if (rows.length < BATCH_ROWS) return
  }
}
