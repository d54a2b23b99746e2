import type { StoreHealth } from '../../src/store/health.js'
import { ask, type PostgresPoolClient } from './connection/client.js'
import { isTransient } from './connection/failures.js'
import type { Backpressure } from './index/backpressure.js'
import { loadIndex } from '../../src/store-kit/maintenance/index-rows.js'
import { askProgram, dialectOf } from './index/dialect.js'
import { DEFAULT_TUNING } from './index/index-state.js'
import { unindexedSql } from './index/unindexed.js'
import { withoutTimeLimit } from './log/calls.js'
import type { PostgresLog } from './log/log.js'
import { replicasHealth } from './replicas/replica-health.js'
import type { Replicas } from './replicas/replicas.js'
import type { Names } from './schema/names.js'

const { segmentSize } = DEFAULT_TUNING

/** How recording waits for the index. */
export type IndexDelay = Pick<Backpressure, 'maxUnindexed' | 'delayedMs'>

/** More events that are not indexed are not counted. */
const maxCounted = (delay: IndexDelay | undefined): number =>
  Math.max(4 * segmentSize, delay?.maxUnindexed ?? 0) + 1

/** SQL of the read-only setting, the events that are in no segment, and the bytes of all tables of $2. */
const healthSql = (names: Names): string => `
  WITH state AS MATERIALIZED (SELECT sealed_to FROM ${names.indexState})
  SELECT current_setting('transaction_read_only'), ${unindexedSql(names, '$1')},
    (SELECT sum(pg_total_relation_size(oid)) FROM pg_catalog.pg_class
      WHERE relkind = 'r' AND relnamespace = (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = $2))`

interface HealthOptions {
  readonly replicas: Replicas
  readonly maxLagMs: number | undefined
  readonly delay: IndexDelay | undefined
}

async function askHealth(
  client: PostgresPoolClient,
  log: PostgresLog,
  { replicas, maxLagMs, delay }: HealthOptions,
): Promise<StoreHealth> {
  const { names } = log
  const [row] = await ask(client, healthSql(names), maxCounted(delay), names.schemaName)
  const [isReadOnly, waiting, size] = row!
  const { damaged } = await askProgram(client, loadIndex(dialectOf(names)))
  return {
    writable: isReadOnly !== 'on',
    warnings: await log.risks(client),
    index: {
      waiting: Number(waiting),
      damaged: damaged.length,
      batch: segmentSize,
      ...(delay && {
        maxWaiting: delay.maxUnindexed,
        recordingDelayedMs: Math.round(delay.delayedMs()),
      }),
    },
    disk: { sizeBytes: Number(size) },
    ...(replicas.all.length > 0 && {
      replicas: { maxLagMs, servers: await replicasHealth(replicas, names, client) },
    }),
  }
}

/** Asks the primary. */
export const readHealth = (
  log: PostgresLog,
  options: HealthOptions,
  signal: AbortSignal | undefined,
): Promise<StoreHealth> =>
  withoutTimeLimit(signal, async (waiting) => {
    const read = (): Promise<StoreHealth> =>
      log.use(waiting, (client) => askHealth(client, log, options))
    try {
      return await read()
    } catch (error) {
      // An idle connection of the pool may have died; the second attempt gets a new one.
      if (!isTransient(error)) throw error
      return await read()
    }
  })
