import type { TimeBounds } from '../../../src/filter/bounds.js'
import { type Sql, sql } from '../../../src/store-kit/sql.js'
import type { TextRow } from '../connection/client.js'

/** Sends one statement of a query that has several. */
export type Run = (query: Sql) => Promise<TextRow[]>

export const MAX_TIME = Number.MAX_SAFE_INTEGER

/** How many rows a list reads before it uses the index. Frequent matches are found among them. */
export const FIRST_PROBE_SIZE = 250

/** The same for values, which the index finds by a few reads. */
export const VALUE_PROBE_SIZE = 100

export const within = ({ from, to }: TimeBounds): Sql => sql('created_at BETWEEN ? AND ?', from, to)

const isAllTime = ({ from, to }: TimeBounds): boolean => from === 0 && to === MAX_TIME

/** As `within`, for nearly all rows. For all time, `+ 0` keeps the planner from using the key's index. */
export const withinMost = ({ from, to }: TimeBounds): Sql =>
  sql(`created_at ${isAllTime({ from, to }) ? '+ 0' : ''} BETWEEN ? AND ?`, from, to)

/** Allows the planner a sequential scan. */
export const BY_TABLE = sql('SET LOCAL enable_seqscan = on')
