import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Analysis, WaitOptions } from '../../../src/store/store.js'
import type { Connection } from '../connection/connection.js'

// Rows per index that ANALYZE examines: https://www.sqlite.org/pragma.html#pragma_analysis_limit
const ANALYSIS_LIMIT = 400

// Returns the ANALYZE statements that optimize would run for all tables, without running them:
// https://www.sqlite.org/pragma.html#pragma_optimize
const STALE = 'optimize(0x10003)'

const ANALYZE_TABLE = /^ANALYZE "main"\.("(?:[^"]|"")+")$/

// The first number of `stat` counts the entries of an index, which are fewer than the rows in a partial one.
// Without any other index there is an entry for the table: https://www.sqlite.org/fileformat2.html#stat1tab
const ROWS = `SELECT stat FROM sqlite_stat1 WHERE tbl = ?
  AND (idx IS NULL OR idx NOT IN (SELECT name FROM pragma_index_list(tbl) WHERE partial))
  ORDER BY idx IS NOT NULL LIMIT 1`

const HAS_STATISTICS = `SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'`

const ANALYZED = `SELECT DISTINCT tbl FROM sqlite_stat1 WHERE tbl LIKE 'daybook\\_%' ESCAPE '\\'`

const analyzeTable = ({ database }: Connection, table: string): void =>
  void database.exec(`ANALYZE main."${table.replaceAll('"', '""')}"`)

/** Replaces the statistics of all tables of the log that have some, as they may have values of removed rows. */
export async function refreshStatistics(
  connection: Connection,
  options: WaitOptions,
  onProgress: (done: number, total: number) => void,
): Promise<void> {
  const { database, statement } = connection
  const tables = await connection.retry(() => {
    database.pragma(`analysis_limit = ${ANALYSIS_LIMIT}`)
    return statement(HAS_STATISTICS).get() ? statement(ANALYZED).all() : []
  }, options)
  for (const [done, { tbl }] of (tables as { readonly tbl: string }[]).entries()) {
    onProgress(done, tables.length)
    await connection.write(() => analyzeTable(connection, tbl), options)
    await nextTurn()
  }
}

/**
 * Analyzes the tables whose statistics are stale according to SQLite, each in its own transaction. It
 * skips tables without an index: the planner has no choice there, and counting them scans all rows.
 * Counting the entries of an index blocks the event loop; some million entries take 100 ms.
 */
export async function analyzeTables(
  connection: Connection,
  options: WaitOptions,
): Promise<Analysis> {
  const { database, statement } = connection

  const rowsOf = (table: string): number | null => {
    // sqlite_stat1 does not exist before the first ANALYZE.
    if (!statement(HAS_STATISTICS).get()) return null
    const row = statement(ROWS).get(table) as { readonly stat: string } | undefined
    return row ? Number.parseInt(row.stat, 10) : null
  }

  const staleTables = (): string[] =>
    (database.pragma(STALE) as { readonly optimize: string }[])
      .map(({ optimize }) => ANALYZE_TABLE.exec(optimize)?.[1])
      .filter((quoted) => quoted !== undefined)
      .map((quoted) => quoted.slice(1, -1).replaceAll('""', '"'))
      .filter((table) => statement('SELECT 1 FROM pragma_index_list(?)').get(table))

  const analyze = (table: string): Analysis['analyzed_tables'][number] => {
    const rows_before = rowsOf(table)
    analyzeTable(connection, table)
    return { table, rows_before, rows_after: rowsOf(table) }
  }

  const stale = await connection.retry(() => {
    database.pragma(`analysis_limit = ${ANALYSIS_LIMIT}`)
    return staleTables()
  }, options)
  const analyzed: Analysis['analyzed_tables'][number][] = []
  for (const table of stale) {
    await nextTurn()
    analyzed.push(await connection.write(() => analyze(table), options))
  }
  // SQLite stores no statistics for an empty table, so it is stale every time.
  const changed = analyzed.filter((one) => one.rows_before !== null || one.rows_after !== null)
  return { analyzed_tables: changed }
}
