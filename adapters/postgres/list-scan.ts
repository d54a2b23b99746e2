import { beyond, type TimeBounds } from '../../src/filter/bounds.js'
import { type Sql, sql } from '../../src/filter/sql.js'
import type { Order } from '../../src/indexing/part.js'
import type { Microseconds } from '../../src/timestamp.js'
import { type Answer, FETCHED, timeOf } from './answer.js'
import type { TextRow } from './client.js'
import { EVENT_COLUMNS } from './rows.js'
import { BY_TABLE, firstRows, within, withinMost } from './ranges.js'
import { allOf } from './sql.js'

const SQL_ORDER = { asc: 'ASC', desc: 'DESC' } as const

/** What the first rows of the order give. */
export interface Probe {
  /** Those of them that SQL lets through, at most so many as were asked for. */
  readonly rows: readonly TextRow[]
  /** The last of the first rows, unless there are enough; `undefined` where there is none behind it either. */
  readonly last: Microseconds | undefined
}

/**
 * Looks at the first rows of the order, so many. They are gone through no further than until `most` have been
 * let through: behind them `last` is asked for.
 */
export async function probeRows(
  { run, where, indexed: { names } }: Answer,
  order: Order,
  bounds: TimeBounds,
  count: number,
  most: number,
): Promise<Probe> {
  const direction = SQL_ORDER[order]
  const probed = firstRows(names.events, bounds, direction, count)
  const condition = where ?? sql('TRUE')
  const range = within(bounds)
  const rows = await run(
    sql(
      `SELECT * FROM (
         (SELECT ${EVENT_COLUMNS} FROM ${probed.text} WHERE ${condition.text}
          ORDER BY created_at ${direction} LIMIT ${most})
         UNION ALL
         (SELECT created_at, NULL, NULL, NULL, NULL, NULL, NULL FROM ${names.events}
          WHERE ${range.text} ORDER BY created_at ${direction} OFFSET ${count - 1} LIMIT 1)
       ) AS found LIMIT ${most}`,
      ...probed.params,
      ...condition.params,
      ...range.params,
    ),
  )
  const isEnd = (row: TextRow | undefined): boolean => row?.[1] === null
  const end = isEnd(rows.at(-1)) ? rows.pop() : undefined
  return { rows, last: end && timeOf(end) }
}

/** All that SQL lets through within the bounds, in order, some at a time. */
export async function* scanRows(
  { run, where, indexed: { names }, query }: Answer,
  order: Order,
  bounds: TimeBounds,
): AsyncGenerator<readonly TextRow[]> {
  let rest = bounds
  for (let size = query.limit + 1; rest.from <= rest.to; size = Math.min(2 * size, FETCHED)) {
    const condition = allOf(within(rest), where)
    const rows = await run(
      sql(
        `SELECT ${EVENT_COLUMNS} FROM ${names.events} WHERE ${condition.text}
         ORDER BY created_at ${SQL_ORDER[order]} LIMIT ${size}`,
        ...condition.params,
      ),
    )
    yield rows
    if (rows.length < size) return
    rest = beyond(rest, timeOf(rows.at(-1)!), order)
  }
}

/** The same in whatever order, as fast as that goes; once in a snapshot. */
export async function* sweepRows(
  { run, where, indexed: { names } }: Answer,
  bounds: TimeBounds,
): AsyncGenerator<readonly TextRow[]> {
  await run(BY_TABLE)
  const { text, params }: Sql = allOf(withinMost(bounds), where)
  // All of it is going to be fetched: https://www.postgresql.org/docs/current/runtime-config-query.html
  await run(sql('SET LOCAL cursor_tuple_fraction = 1'))
  await run(
    sql(
      `DECLARE matching NO SCROLL CURSOR FOR
       SELECT ${EVENT_COLUMNS} FROM ${names.events} WHERE ${text}`,
      ...params,
    ),
  )
  for (;;) {
    const rows = await run(sql(`FETCH ${FETCHED} FROM matching`))
    yield rows
    if (rows.length < FETCHED) return
  }
}
