import type { TimeBounds } from '../../src/filter/bounds.js'
import { type Sql, sql } from '../../src/filter/sql.js'
import type { Microseconds } from '../../src/timestamp.js'
import type { TextRow } from './client.js'

/** Asks one statement of a query that has several. */
export type Run = (query: Sql) => Promise<TextRow[]>

export type Order = 'ASC' | 'DESC'

export const MAX_TIME = Number.MAX_SAFE_INTEGER

// What is found often is found among so many of the newest, at the cost of a few milliseconds.
export const PROBED = 1000
// Of what more events have, the index would have to collect too many before the newest are known.
const MAX_SHARE = 0.03

export const within = ({ from, to }: TimeBounds): Sql => sql('created_at BETWEEN ? AND ?', from, to)

const isAllTime = ({ from, to }: TimeBounds): boolean => from === 0 && to === MAX_TIME

/** What is left of the bounds; where that is most of all time the planner is not to collect it by the key. */
export const withinRest = (bounds: TimeBounds, { from, to }: TimeBounds): Sql =>
  sql(`created_at ${isAllTime(bounds) ? '+ 0' : ''} BETWEEN ? AND ?`, from, to)

// Of values it has no statistics on, the planner thinks that many events have them: it is told.
export const BY_INDEX = sql('SET LOCAL enable_bitmapscan = on')
export const BY_TABLE = sql('SET LOCAL enable_seqscan = on')

/** The first rows in an order, whatever is asked of them: the planner cannot look behind LIMIT. */
export function newest(events: string, bounds: TimeBounds, order: Order, count: number): Sql {
  const { text, params } = within(bounds)
  const rows = `SELECT * FROM ${events} WHERE ${text} ORDER BY created_at ${order} LIMIT ${count}`
  return sql(`(${rows}) AS newest`, ...params)
}

/** What the newest rows, or the oldest, tell of all. */
export interface Sample {
  /** The last of them in the direction; `undefined` where they are all that there are. */
  readonly last: Microseconds | undefined
  /** How many there are, and how many of them have the terms. */
  readonly rows: number
  readonly having: number
  /** True where few of them have the terms. */
  readonly isRare: boolean
}

export async function sample(
  run: Run,
  events: string,
  bounds: TimeBounds,
  order: Order,
  terms: Sql | undefined,
): Promise<Sample> {
  const { text, params } = newest(events, bounds, order, PROBED)
  const counted = terms ?? sql('TRUE')
  const [row] = await run(
    sql(
      `SELECT ${order === 'ASC' ? 'max' : 'min'}(created_at), count(*), count(*) FILTER (WHERE ${counted.text})
       FROM ${text}`,
      ...counted.params,
      ...params,
    ),
  )
  const [last, rows, having] = row!.map(Number) as [number, number, number]
  return {
    last: rows === PROBED ? last : undefined,
    rows,
    having,
    isRare: having <= MAX_SHARE * PROBED,
  }
}
