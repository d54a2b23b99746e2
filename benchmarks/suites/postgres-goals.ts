import type { TimedOptions } from '../harness/options.js'
import type { Row } from '../harness/results.js'
import { withWorkerPool } from '../targets/worker-pool.js'
import { lagRows } from './postgres-lag.js'
import { recordRows } from './postgres-record.js'

/* The goals of `record` on Postgres. The suite `postgres` has the figures of more cases. */

export const measure = (options: TimedOptions): Promise<Row[]> =>
  withWorkerPool(async (pool) => [
    ...(await recordRows(pool, options)),
    ...(await lagRows(pool, options.rounds)),
  ])
