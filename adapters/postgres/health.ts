import type { StoreHealth } from '../../src/store/health.js'
import { ask, type PostgresPoolClient } from './connection/client.js'
import { isTransient } from './connection/failures.js'
import { DEFAULT_TUNING, loadSegments } from './index/index-state.js'
import { withoutTimeLimit } from './log/calls.js'
import type { PostgresLog } from './log/log.js'
import type { Names } from './schema/names.js'

const { segmentSize } = DEFAULT_TUNING

// More are not counted.
const MAX_WAITING = 4 * segmentSize + 1

/** Whether the server refuses writes, the events that are in no segment, and the bytes of all tables of $2. */
const healthSql = ({ events, late, indexState }: Names): string => `
  WITH state AS MATERIALIZED (SELECT sealed_to FROM ${indexState})
  SELECT current_setting('transaction_read_only'),
    (SELECT count(*) FROM (SELECT FROM ${events}
      WHERE created_at > (SELECT sealed_to FROM state) ORDER BY created_at LIMIT $1) AS fresh)
    + (SELECT count(*) FROM (SELECT FROM ${late}
      WHERE created_at <= (SELECT sealed_to FROM state) LIMIT $1) AS late),
    (SELECT sum(pg_total_relation_size(oid)) FROM pg_class
      WHERE relkind = 'r' AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $2))`

async function readHealth(client: PostgresPoolClient, names: Names): Promise<StoreHealth> {
  const [row] = await ask(client, healthSql(names), MAX_WAITING, names.schemaName)
  const [isReadOnly, waiting, size] = row!
  const damaged = (await loadSegments(client, names)).filter(({ isDamaged }) => isDamaged)
  return {
    writable: isReadOnly !== 'on',
    index: { waiting: Number(waiting), damaged: damaged.length, batch: segmentSize },
    disk: { sizeBytes: Number(size) },
  }
}

/** Asks the primary. */
export const databaseHealth = (
  log: PostgresLog,
  signal: AbortSignal | undefined,
): Promise<StoreHealth> =>
  withoutTimeLimit(signal, async (waiting) => {
    const read = (): Promise<StoreHealth> =>
      log.use(waiting, (client) => readHealth(client, log.names))
    try {
      return await read()
    } catch (error) {
      // An idle connection of the pool may have died; the second attempt gets a new one.
      if (!isTransient(error)) throw error
      return await read()
    }
  })
