import type { QueryMethod, QueryTrace } from '../../../src/store/trace.js'
import { type Sql, sql } from '../../../src/store-kit/sql.js'
import type { Run } from './ranges.js'

/** Tells of a list's steps, and of the rows that the server has gone through in each. */
export interface ListTrace {
  enter(method: QueryMethod, reason?: string): Promise<void>
  /** Rows of which a statement tells itself, for a trace without details. */
  add(rows: number): void
  end(): Promise<void>
}

/**
 * The rows that this connection has read of the log, also those that its filters ruled out: a count
 * that has not begun with the transaction. Rows that only the key's index was read for are not in it.
 * https://www.postgresql.org/docs/current/monitoring-stats.html#MONITORING-STATS-VIEWS
 */
const rowsRead = (events: string): Sql =>
  sql(
    `SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))
     FROM pg_stat_xact_all_tables
     WHERE relid = ?::regclass
       OR relid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = ?::regclass)`,
    events,
    events,
  )

/** What a trace without details costs is next to nothing. */
export function listTrace(run: Run, events: string, trace: QueryTrace | undefined): ListTrace {
  let read = 0
  /** Those since the last call; the first step begins with what there was before. */
  const tellRows = async (): Promise<void> => {
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
      await tellRows()
      const step = trace?.enter(method)
      if (step) step.reason = reason
    },
    add(rows) {
      if (trace?.current && !trace.detailed) trace.current.rows += rows
    },
    end: tellRows,
  }
}
