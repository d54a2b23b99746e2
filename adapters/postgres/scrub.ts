import { throwIfAborted } from '../../src/errors.js'
import type { IndexStore } from '../../src/store-kit/maintenance/index-store.js'
import { scrubIndex } from '../../src/store-kit/maintenance/scrubbing.js'
import type { ScrubOptions, Scrubbed } from '../../src/store/scrub.js'
import {
  ask,
  askAlone,
  IDLE_TIMEOUT,
  type PostgresPoolClient,
  runInTransaction,
} from './connection/client.js'
import { isStatementError } from './connection/failures.js'
import { askProgram, changeIndex, dialectOf } from './index/dialect.js'
import { readWithRetry, withoutTimeLimit, withRetry } from './log/calls.js'
import type { PostgresLog } from './log/log.js'
import type { Names } from './schema/names.js'
import { timeSql } from './schema/server.js'

/** Deletes the throttles whose last event was removed, and the states that have expired. */
const deleteValues = (client: PostgresPoolClient, log: PostgresLog): Promise<void> =>
  runInTransaction(client, async () => {
    const { throttles, events, liveEvents, state, lock } = log.names
    await ask(client, IDLE_TIMEOUT)
    // A throttle and its event become visible together.
    await ask(client, `SELECT ${lock('throttles')}`)
    await ask(
      client,
      `DELETE FROM ${throttles} AS t WHERE stored_at IS NOT NULL
         AND NOT EXISTS (SELECT 1 FROM ${events} AS e WHERE e.created_at = t.stored_at)
         AND NOT EXISTS (SELECT 1 FROM ${liveEvents} AS l WHERE l.created_at = t.stored_at)`,
    )
    await ask(
      client,
      `DELETE FROM ${state} WHERE expires_at <= ${timeSql('$1')}`,
      log.now() ?? null,
    )
  })

// Postgres 17 has the right MAINTAIN. A partitioned table has statistics, and no rows.
const TABLES = `
  SELECT format('%I.%I', nspname, relname), relkind = 'p',
    pg_has_role(relowner, 'USAGE')
    OR pg_has_role((SELECT datdba FROM pg_catalog.pg_database WHERE datname = current_database()), 'USAGE')
    OR CASE WHEN current_setting('server_version_num')::integer >= 170000
         THEN has_table_privilege(class.oid, 'MAINTAIN') ELSE false END
  FROM pg_catalog.pg_class AS class JOIN pg_catalog.pg_namespace AS space ON space.oid = relnamespace
  WHERE nspname = $1 AND relkind IN ('r', 'p') ORDER BY 1`

// ANALYZE of a table without rows leaves its statistics as they were.
const STALE_STATISTICS = `
  SELECT format('%I.%I', nspname, relname)
  FROM pg_catalog.pg_class AS class JOIN pg_catalog.pg_namespace AS space ON space.oid = relnamespace
  WHERE nspname = $1 AND relkind IN ('r', 'p') AND reltuples <= 0 AND EXISTS (
    SELECT 1 FROM pg_catalog.pg_stats AS stats
    WHERE stats.schemaname = nspname AND stats.tablename = relname AND stats.null_frac < 1
  ) ORDER BY 1`

interface Vacuumed {
  /** Tables that the role may not vacuum. */
  readonly refused: readonly string[]
  /** Why tables could not be vacuumed. */
  readonly failed: readonly string[]
  /** Empty tables with statistics. */
  readonly stale: readonly string[]
}

/** Removes dead rows from all tables of the log, and replaces the statistics of the planner. */
async function vacuumAll(
  client: PostgresPoolClient,
  { schemaName }: Names,
  signal: AbortSignal,
  onProgress: (done: number, total: number) => void,
): Promise<Vacuumed> {
  const tables = await ask(client, TABLES, schemaName)
  const refused: string[] = []
  const failed: string[] = []
  for (const [done, [table, isPartitioned, may]] of tables.entries()) {
    throwIfAborted(signal)
    onProgress(done, tables.length)
    if (may !== 't') refused.push(table!)
    else {
      const statement = isPartitioned === 't' ? `ANALYZE ${table}` : `VACUUM (ANALYZE) ${table}`
      try {
        await askAlone(client, statement)
      } catch (error) {
        throwIfAborted(signal)
        // The time limit of the session, or a lock that another session keeps.
        if (!isStatementError(error)) throw error
        failed.push(`${statement} failed: ${(error as Error).message}.`)
      }
    }
  }
  const stale = await ask(client, STALE_STATISTICS, schemaName)
  return { refused, failed, stale: stale.map(([table]) => table!) }
}

const remainingOf = ({ schema }: Names, { refused, failed, stale }: Vacuumed): string[] => [
  `Postgres keeps bytes of removed rows in free space of the files of its tables, also on replicas, until VACUUM FULL runs on the tables of the schema ${schema}.`,
  'The write-ahead log keeps bytes of removed rows until its files are reused. Archived files of it, and backups, have them for as long as they are kept.',
  ...failed,
  ...(refused.length > 0
    ? [
        `The role may not vacuum these tables, so that their files and the statistics of the query planner keep values of removed rows until their owner runs VACUUM (ANALYZE): ${refused.join(', ')}.`,
      ]
    : []),
  ...(stale.length > 0
    ? [
        `The statistics of the query planner keep values of removed rows of empty tables until ANALYZE runs when they have rows again: ${stale.join(', ')}.`,
      ]
    : []),
]

interface Scrubbing {
  readonly log: PostgresLog
  /** Wakes the builder of the index, and waits a little. */
  readonly pause: () => Promise<void>
}

/** Implements `EventStore.scrub`. */
export async function scrub(
  { log, pause }: Scrubbing,
  { signal, onProgress = () => {} }: ScrubOptions,
): Promise<Scrubbed> {
  const { names } = log
  onProgress({ step: 'values', done: 0, total: undefined })
  await withRetry(log, signal, (client) => deleteValues(client, log))
  const change: IndexStore['change'] = (program) =>
    withRetry(log, signal, (client) => changeIndex(client, program()))
  const read: IndexStore['read'] = (program) =>
    readWithRetry(log, signal, (client) => askProgram(client, program()))
  await scrubIndex({ dialect: dialectOf(names), read, write: change, change }, pause, (progress) =>
    onProgress({ step: 'index', ...progress }),
  )
  const vacuumed = await withoutTimeLimit(signal, (waiting) =>
    log.use(waiting, (client) =>
      log.define(client, (definer) =>
        vacuumAll(definer, names, waiting, (done, total) =>
          onProgress({ step: 'statistics', done, total }),
        ),
      ),
    ),
  )
  return { remaining: remainingOf(names, vacuumed) }
}
