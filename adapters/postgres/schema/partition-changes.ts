import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask, runInTransaction, type PostgresPoolClient } from '../connection/client.js'
import {
  detachedTables,
  detachPartition,
  dropDetached,
  finishPending,
} from './detached-partitions.js'
import type { Names } from './names.js'
import {
  attachedPartitions,
  createPartition,
  type Period,
  withoutPartitions,
} from './partitions.js'

/** Creates the partitions of these periods that are still missing. */
export async function makePartitions(
  client: PostgresPoolClient,
  names: Names,
  periods: readonly Period[],
  cluster: string,
): Promise<void> {
  const { locks } = names
  await runInTransaction(client, async () => {
    await ask(client, `SELECT pg_advisory_xact_lock(${locks.schema})`)
    // After this no process is removing a partition; one that died may have left a detached table.
    await ask(client, `SELECT pg_advisory_xact_lock(${locks.removal})`)
    const wanted = new Set(periods.map(({ name }) => name))
    await finishPending(client, names, wanted)
    for (const name of await detachedTables(client, names))
      if (wanted.has(name)) await dropDetached(client, names, name, cluster)
    const { missing } = await withoutPartitions(client, names, periods)
    for (const period of missing) await createPartition(client, names, period)
  })
}

/** Drops the partitions that end before `time`, and yields the number of events in each. */
export async function* dropPartitions(
  client: PostgresPoolClient,
  names: Names,
  time: Microseconds,
  { cluster, isConcurrent }: { readonly cluster: string; readonly isConcurrent: boolean },
): AsyncGenerator<number> {
  for (const { name, to } of await attachedPartitions(client, names)) {
    if (to > time) continue
    await detachPartition(client, names, name, { isConcurrent })
    yield await runInTransaction(client, () => dropDetached(client, names, name, cluster))
  }
}
