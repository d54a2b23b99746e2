import { measuredOn } from '../harness/machine.js'
import { peerVersion } from '../harness/peers.js'
import type { TimedOptions } from '../harness/options.js'
import type { Section } from '../harness/results.js'
import { withWorkerPool } from '../targets/worker-pool.js'
import { lagTable } from './postgres-lag.js'
import { processesTables } from './postgres-processes.js'
import { recordTables } from './postgres-record.js'

/*
 * `record` on Postgres, alone and beside many others on a slow disk, and how far the index falls behind. Each writer has its own processes. Trials
 * start with an empty table and alternate, so that each ratio is taken within one round. At the end
 * of each trial all acknowledged events must be stored.
 */

const PARTS = {
  processes: [processesTables],
  record: [recordTables],
  lag: [lagTable],
  all: [processesTables, recordTables, lagTable],
}

export const measure = ({
  part,
  rounds,
  seconds,
}: TimedOptions & { readonly part: keyof typeof PARTS }): Promise<Section[]> =>
  withWorkerPool(async (pool) => {
    const { rows } = await pool.client.query<{ server_version: string }>('SHOW server_version')
    const tables: string[] = []
    for (const run of PARTS[part]) tables.push('', ...(await run(pool, rounds, seconds)))
    const peers = ['@event-driven-io/emmett-postgresql', 'pg-boss'].map(
      (name) => `${name} ${peerVersion(name)}`,
    )
    const text = [
      `${measuredOn(`Postgres ${rows[0]!.server_version}`, ...peers)} Server and writers run on the same machine.`,
      '`fsync`, `full_page_writes` and `synchronous_commit` are on, and events have about 640 bytes.',
      `Medians [min–max] of ${rounds} rounds of ${seconds} s; ratios are taken within each round.`,
      ...tables,
    ].join('\n')
    return [{ name: 'postgres', text }]
  })
