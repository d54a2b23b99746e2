import { throwIfAborted } from '../../../src/errors.js'
import type { Analysis } from '../../../src/store/store.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import type { PostgresLog } from '../log/log.js'

// The rule of autovacuum: https://www.postgresql.org/docs/current/routine-vacuuming.html#AUTOVACUUM.
// A partitioned table has no count of changes, so only its partitions are checked.
const STALE = `
  SELECT format('%I.%I', schemaname, relname), reltuples::int8
  FROM (
    SELECT
      stat.*, class.reltuples, class.relowner,
      coalesce(
        (SELECT option_value FROM pg_options_to_table(class.reloptions)
         WHERE option_name = 'autovacuum_analyze_threshold'),
        current_setting('autovacuum_analyze_threshold')
      )::float8 AS threshold,
      coalesce(
        (SELECT option_value FROM pg_options_to_table(class.reloptions)
         WHERE option_name = 'autovacuum_analyze_scale_factor'),
        current_setting('autovacuum_analyze_scale_factor')
      )::float8 AS scale
    FROM pg_catalog.pg_stat_user_tables AS stat JOIN pg_catalog.pg_class AS class ON class.oid = stat.relid
    WHERE stat.schemaname IN ($1, current_schema()) AND class.relkind IN ('r', 'm')
  ) AS known
  WHERE (
    n_mod_since_analyze > threshold + scale * greatest(reltuples, 0)
    OR (last_analyze IS NULL AND last_autoanalyze IS NULL)
  ) AND (
    pg_has_role(relowner, 'USAGE')
    OR pg_has_role((SELECT datdba FROM pg_catalog.pg_database WHERE datname = current_database()), 'USAGE')
  )
  ORDER BY 1`

const readEstimate = (reltuples: string | null | undefined): number | null => {
  const rows = Number(reltuples ?? -1)
  // -1 for a table that was never analyzed or vacuumed.
  return rows < 0 ? null : rows
}

const NEEDS_SESSION =
  'the connection leads through a pooler in transaction mode; set listenConnectionString to the address of the server itself'

/** Analyzes stale tables that the role may analyze, unless another process is doing so. */
export async function analyzeTables(
  client: PostgresPoolClient,
  log: PostgresLog,
  signal: AbortSignal,
): Promise<Analysis> {
  const { schemaName, locks } = log.names
  if (!log.hasSessions()) return { analyzed_tables: [], skipped_reason: NEEDS_SESSION }
  // Each table is analyzed in its own transaction, so the session holds the lock.
  const [row] = await ask(client, `SELECT pg_try_advisory_lock(${locks.analysis})`)
  if (row![0] !== 't')
    return { analyzed_tables: [], skipped_reason: 'another process is analyzing this database' }
  try {
    const analyzed = []
    for (const [table, before] of await ask(client, STALE, schemaName)) {
      throwIfAborted(signal)
      await ask(client, `ANALYZE ${table}`)
      const [after] = await ask(
        client,
        'SELECT reltuples::int8 FROM pg_catalog.pg_class WHERE oid = to_regclass($1)',
        table,
      )
      analyzed.push({
        table: table!,
        rows_before: readEstimate(before),
        rows_after: readEstimate(after?.[0]),
      })
    }
    return { analyzed_tables: analyzed }
  } finally {
    await ask(client, `SELECT pg_advisory_unlock(${locks.analysis})`)
  }
}
