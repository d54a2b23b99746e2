import { beyond, isEmpty, type TimeBounds } from '../../../src/filter/bounds.js'
import { type Sql, sql } from '../../../src/store-kit/sql.js'
import type { Order } from '../../../src/store-kit/index/part.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Probe } from '../../../src/store-kit/index/probe.js'
import { BATCH_EVENTS } from '../../../src/store-kit/planning/list-planner.js'
import { type Indexed, timeOf } from './list-query.js'
import type { TextRow } from '../connection/client.js'
import { STORED_COLUMNS } from '../schema/rows.js'
import { BY_TABLE, type Run, within, withinMost } from './ranges.js'
import { allOf } from './sql.js'

const SQL_ORDER = { asc: 'ASC', desc: 'DESC' } as const

interface Filtered {
  readonly indexed: Pick<Indexed, 'names'>
  /** The part of the filter that SQL can test; `undefined` if none. */
  readonly where: Sql | undefined
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

/** The rows that pass the SQL filter; without `last` if the maximum was reached or no row follows. */
function readProbe(found: readonly TextRow[]): Batch {
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

/** Rows in the order of a scan, and how far they reach. */
interface Batch {
  readonly rows: readonly TextRow[]
  /** The time of the last row that was read; `undefined` if no row follows. */
  readonly last: Microseconds | undefined
}

export interface OrderedScan extends Filtered {
  readonly run: Run
  readonly order: Order
  /** The bounds in the order in which they are read. */
  readonly parts: readonly TimeBounds[]
  /** The rows that a page needs. */
  readonly least: number
  readonly probe: Probe | undefined
  /** The rows of the first statement, if it was sent already. */
  readonly ready: readonly TextRow[] | undefined
  /** Called with the number of rows that a statement for the probe has read. */
  readonly onRead: (rows: number) => void
  /** Visits the rows of a batch. Returns true once no more is needed. */
  readonly visit: (rows: readonly TextRow[], range: TimeBounds) => Promise<boolean>
}

/** Visits rows in order, up to the end of the probe if there is one. Returns the bounds that are left, as `ListPorts.scan`. */
export async function scanInOrder(scan: OrderedScan): Promise<TimeBounds | undefined> {
  const { order, parts, probe } = scan
  const read = probe ? probeReader(scan, probe) : rowReader(scan)
  const end = (one: TimeBounds): Microseconds => (order === 'asc' ? one.to : one.from)
  let rest = {
    from: Math.min(...parts.map(({ from }) => from)),
    to: Math.max(...parts.map(({ to }) => to)),
  }
  for (const part of parts)
    for (let left = part; !isEmpty(left);) {
      if (probe && probe.left() <= 0) return rest
      const { rows, last = end(left), passed } = await read(left)
      const range = order === 'asc' ? { from: left.from, to: last } : { from: last, to: left.to }
      if (await scan.visit(rows, range)) return undefined
      probe?.passed(passed)
      left = beyond(left, last, order)
      rest = beyond(rest, last, order)
    }
  return rest
}

type Reader = (bounds: TimeBounds) => Promise<Batch & { readonly passed: number }>

function probeReader(
  { run, order, least, onRead, ready, ...filtered }: OrderedScan,
  probe: Probe,
): Reader {
  let sent = ready
  return async (bounds) => {
    const count = probe.left()
    const request = { order, bounds, count, most: least }
    const found = sent ?? (await run(probeStatement(filtered, request)))
    sent = undefined
    const { rows, last } = readProbe(found)
    const isFull = rows.length === least
    if (!isFull && last !== undefined) onRead(count)
    if (isFull) return { rows, last: last ?? timeOf(rows.at(-1)!), passed: rows.length }
    return { rows, last, passed: last === undefined ? 0 : count }
  }
}

function rowReader({ run, order, least, ready, ...filtered }: OrderedScan): Reader {
  let sent = ready
  let size = least
  return async (bounds) => {
    const rows = sent ?? (await run(scanStatement(filtered, order, bounds, size)))
    sent = undefined
    const last = rows.length < size ? undefined : timeOf(rows.at(-1)!)
    size = Math.min(2 * size, BATCH_EVENTS)
    return { rows, last, passed: rows.length }
  }
}

/** All rows that pass the SQL filter, in any order, by a sequential scan. To be called once in a snapshot. */
export async function* sweepRows(
  run: Run,
  { where, indexed: { names } }: Filtered,
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
    const rows = await run(sql(`FETCH ${BATCH_EVENTS} FROM matching`))
    yield rows
    if (rows.length < BATCH_EVENTS) return
  }
}
