import { beyond, type TimeBounds } from '../../../src/filter/bounds.js'
import { type Sql, sql } from '../../../src/store-kit/sql.js'
import type { Order } from '../../../src/store-kit/index/part.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { type Answer, FETCHED, timeOf } from './answer.js'
import type { TextRow } from '../connection/client.js'
import { EVENT_COLUMNS } from '../schema/rows.js'
import { BY_TABLE, within, withinMost } from './ranges.js'
import { allOf } from './sql.js'

const SQL_ORDER = { asc: 'ASC', desc: 'DESC' } as const

type Filtered = Pick<Answer, 'where' | 'indexed'>

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
export function probeStatement(
  { where, indexed: { names } }: Filtered,
  order: Order,
  bounds: TimeBounds,
  count: number,
  most: number,
): Sql {
  const range = within(bounds)
  const condition = where ?? sql('TRUE')
  // The planner has to find a way to the rows once, and they are read no further than is asked for.
  return sql(
    `WITH first AS MATERIALIZED (
       SELECT ${EVENT_COLUMNS}, terms FROM ${names.events} WHERE ${range.text}
       ORDER BY created_at ${SQL_ORDER[order]} LIMIT ${count}
     )
     SELECT * FROM (
       (SELECT ${EVENT_COLUMNS} FROM first WHERE ${condition.text} LIMIT ${most})
       UNION ALL
       (SELECT created_at, NULL, NULL, NULL, NULL, NULL, NULL FROM first OFFSET ${count - 1} LIMIT 1)
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

/** The first rows of the order that SQL lets through, so many. */
export function scanStatement(
  { where, indexed: { names } }: Filtered,
  order: Order,
  bounds: TimeBounds,
  size: number,
): Sql {
  const { text, params } = allOf(within(bounds), where)
  return sql(
    `SELECT ${EVENT_COLUMNS} FROM ${names.events} WHERE ${text}
     ORDER BY created_at ${SQL_ORDER[order]} LIMIT ${size}`,
    ...params,
  )
}

/** All that SQL lets through within the bounds, in order, some at a time. `first` are its first rows. */
export async function* scanRows(
  answer: Answer,
  order: Order,
  bounds: TimeBounds,
  first?: readonly TextRow[],
): AsyncGenerator<readonly TextRow[]> {
  let [rest, ready] = [bounds, first]
  const least = answer.query.limit + 1
  for (let size = least; rest.from <= rest.to; size = Math.min(2 * size, FETCHED)) {
    const rows = ready ?? (await answer.run(scanStatement(answer, order, rest, size)))
    ready = undefined
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
