import type { QueryMethod, QueryTrace } from '../../../src/store/trace.js'
import { type Sql, sql } from '../../../src/store-kit/sql.js'
import type { Run } from './ranges.js'

/** Records the steps of a list in its trace, and the rows that the server read in each. */
export interface ListTrace {
  enter(method: QueryMethod, reason?: string): Promise<void>
  /** Adds the rows that a statement read, for a trace without details. */
  add(rows: number): void
  end(): Promise<void>
}

/**
 * The rows that this connection has read of the log, including those that filters ruled out; the count
 * includes earlier transactions. Index-only reads of the key are not counted.
 * https://www.postgresql.org/docs/current/monitoring-stats.html#MONITORING-STATS-VIEWS
 */
const rowsRead = (events: string): Sql =>
  sql(
    `SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))
     FROM pg_catalog.pg_stat_xact_all_tables
     WHERE relid = ?::regclass
       OR relid IN (SELECT inhrelid FROM pg_catalog.pg_inherits WHERE inhparent = ?::regclass)`,
    events,
    events,
  )

/** A trace without details sends no statements. */
export function listTrace(run: Run, events: string, trace: QueryTrace | undefined): ListTrace {
  let read = 0
  /** Adds the rows read since the last call to the current step. */
  const addRowsRead = async (): Promise<void> => {
    if (!trace?.detailed) return
    const before = read
    const goOn = trace.pause()
    const [row] = await run(rowsRead(events))
    goOn()
    read = Number(row![0])
    if (trace.current) trace.current.rows += read - before
  }

  trace?.restart()
  return {
    async enter(method, reason) {
      await addRowsRead()
      const step = trace?.enter(method)
      if (step) step.reason = reason
    },
    add(rows) {
      if (trace?.current && !trace.detailed) trace.current.rows += rows
    },
    end: addRowsRead,
  }
}
