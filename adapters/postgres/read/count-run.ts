import type { Rounds, Slice } from '../../../src/store-kit/counting/slices.js'
import type { Tally } from '../../../src/store-kit/counting/tally.js'
import { decideInTurns } from '../../../src/filter/time-slices.js'
import type { AuditEvent } from '../../../src/event/event.js'
import { type Sql, sql } from '../../../src/store-kit/sql.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { TextRow } from '../connection/client.js'
import type { CountStatement } from './count-statements.js'
import { codeOf, QUERY_CANCELED } from '../connection/failures.js'
import type { Names } from '../schema/names.js'
import type { Run } from './ranges.js'

export interface TimedEvent {
  readonly time: Microseconds
  readonly event: AuditEvent
}

/** One count, in one snapshot. */
export interface CountRun {
  readonly run: Run
  readonly signal: AbortSignal | undefined
  readonly names: Names
  readonly rounds: Rounds
  /** The open live events to count, which no statement reads. */
  readonly live: readonly TimedEvent[]
  readonly statements: readonly CountStatement[]
  readonly tally: Tally
  /** When the time is over, as `performance.now()` counts. */
  readonly end: number
}

/** The rows of each statement; they are counted once all are there. */
export type StatementRows = readonly (readonly TextRow[])[]

export interface RowsRequest {
  readonly rowsOf: (statement: CountStatement) => Sql
  /** Maximum number of rows that one statement may return. */
  readonly maxRows: number
  /** When the server stops the statements; `undefined` for no time limit. */
  readonly end: number | undefined
}

/** Sets the server's time limit of the next statement; `end` as `performance.now()` counts. */
function stopAt(end: number): Sql {
  const ms = Math.max(1, Math.ceil(end - performance.now()))
  return sql(`SELECT set_config('statement_timeout', ?, true)`, String(ms))
}

async function readAll(
  { run, statements }: CountRun,
  { rowsOf, maxRows, end }: RowsRequest,
): Promise<StatementRows | 'too many'> {
  const all: TextRow[][] = []
  for (const statement of statements) {
    if (end !== undefined) await run(stopAt(end))
    const { text, params } = statement.select(rowsOf(statement))
    const rows = await run(sql(`${text} LIMIT ${maxRows + 1}`, ...params))
    if (rows.length > maxRows) return 'too many'
    all.push(rows)
  }
  return all
}

/** The rows of all statements; `stopped` if the server has stopped one at `end`. */
export async function readRows(
  count: CountRun,
  request: RowsRequest,
): Promise<StatementRows | 'too many' | 'stopped'> {
  try {
    return await readAll(count, request)
  } catch (error) {
    const isStopped = codeOf(error) === QUERY_CANCELED
    if (request.end === undefined || count.signal?.aborted || !isStopped) throw error
    return 'stopped'
  }
}

/** Adds the rows of the slices to the tally, and the live events in them. */
export async function addRows(
  { statements, tally, live }: CountRun,
  all: StatementRows,
  slices: readonly Slice[],
): Promise<void> {
  for (const [i, statement] of statements.entries())
    await decideInTurns(all[i]!, (row) => statement.take(row))
  for (const slice of slices) {
    const inside = live.filter(({ time }) => time >= slice.from && time <= slice.to)
    if (inside.length > 0) await decideInTurns(inside, ({ event }) => tally.add(slice.cell, event))
    tally.seen(slice)
  }
}
