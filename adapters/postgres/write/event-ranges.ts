import { throwIfAborted } from '../../../src/errors.js'
import type { AuditEvent } from '../../../src/event/event.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { EventRange, RemovableRanges } from '../../../src/store/store.js'
import { ask, runInTransaction, type PostgresPoolClient } from '../connection/client.js'
import { confirmCommits } from '../connection/commits.js'
import { codeOf, isDenied, UNDEFINED_TABLE } from '../connection/failures.js'
import type { PostgresLog } from '../log/log.js'
import { detachPartition, dropDetached, finishDetaching } from '../schema/detached-partitions.js'
import { requireNoLedger } from '../schema/ledger.js'
import { attachedPartitions, tableOf } from '../schema/partitions.js'
import {
  formatSnapshot,
  isInSnapshotSql,
  parseSnapshot,
  type RowSnapshot,
  takeSnapshot,
} from '../schema/row-snapshot.js'
import { checkRows, rowToEvent, STORED_COLUMNS } from '../schema/rows.js'
import { noteRemovedBefore, removeRows, withRemovalLock } from './remove.js'

/*
 * The ranges of a log are its partitions. While one is read, events can still be imported into it. The snapshot
 * distinguishes them from the events that were read.
 */

/** True if partitions can be detached. `cluster`: the one of the connection. */
const canDrop = (log: PostgresLog, cluster: string): boolean =>
  log.partitions() !== 'none' && log.hasSessions() && log.placeSql() === '' && cluster !== ''

/** Like `EventStore.removableRanges`. There are none on Citus, and without sessions or partitions. */
export function removableRanges(
  log: PostgresLog,
  time: Microseconds,
  earlier: string | undefined,
  signal: AbortSignal,
): Promise<RemovableRanges> {
  const { names } = log
  return log.useSession(signal, async (client) => {
    await requireNoLedger(client, names)
    const cluster = log.cluster(client)
    const given = earlier === undefined ? undefined : parseSnapshot(earlier)
    const isKnown = given !== undefined && given.cluster === cluster
    const snapshot = formatSnapshot(isKnown ? given : await takeSnapshot(client, cluster))
    // After a crash, later transactions would get the ids of transactions that the crash undoes.
    await confirmCommits(client)
    if (!canDrop(log, cluster)) return { snapshot, ranges: [] }
    await withRemovalLock(client, names, () => finishDetaching(client, names, cluster))
    const partitions = await attachedPartitions(client, names)
    return { snapshot, ranges: partitions.filter(({ to }) => to <= time) }
  })
}

/** Like `EventStore.readRange`. */
export async function readRange(
  log: PostgresLog,
  { name, from }: EventRange,
  options: { readonly snapshot: string; readonly after: Microseconds; readonly limit: number },
  signal: AbortSignal,
): Promise<readonly AuditEvent[] | undefined> {
  const { names, damages } = log
  const snapshot = parseSnapshot(options.snapshot)!
  const rows = await log
    .use(signal, (client) =>
      ask(
        client,
        `SELECT ${STORED_COLUMNS} FROM ${tableOf(names, name)}
         WHERE created_at > $1 AND ${isInSnapshotSql(snapshot)} ORDER BY created_at LIMIT $2`,
        Math.max(options.after, from - 1),
        options.limit,
      ),
    )
    .catch((error: unknown) => {
      // Another rule has dropped it.
      if (codeOf(error) === UNDEFINED_TABLE) return []
      throw error
    })
  const intact = checkRows(damages)(rows)
  return intact.length === rows.length ? intact.map(rowToEvent) : undefined
}

/** True if the partition has events that are not in the snapshot, or without one any events. Reads all of its rows. */
async function hasOthers(
  client: PostgresPoolClient,
  table: string,
  snapshot?: RowSnapshot,
): Promise<boolean> {
  const isOther = snapshot ? `NOT (${isInSnapshotSql(snapshot)})` : 'true'
  const text = `SELECT FROM ${table} WHERE ${isOther} LIMIT 1`
  return (await ask(client, text)).length > 0
}

/**
 * Like `EventStore.removeRange`. The partition is dropped, unless it has events that are not in the snapshot: then
 * the events are removed one by one.
 */
export function removeRange(
  log: PostgresLog,
  { name, from, to }: EventRange,
  snapshotText: string,
  signal: AbortSignal,
): Promise<number> {
  const { names } = log
  const snapshot = parseSnapshot(snapshotText)!
  const table = tableOf(names, name)
  return log.useSession(signal, async (client) => {
    const isAttached = async (): Promise<boolean> =>
      (await attachedPartitions(client, names)).some((one) => one.name === name)
    if (!(await isAttached())) return 0
    await requireNoLedger(client, names)
    await noteRemovedBefore(client, names, to)
    let removed = 0
    if (await hasOthers(client, table, snapshot)) {
      const rows = removeRows(client, { table, from, to, where: isInSnapshotSql(snapshot) })
      for await (const count of rows) {
        removed += count
        throwIfAborted(signal)
      }
    } else
      removed = await withRemovalLock(client, names, async () => {
        if (!(await isAttached())) return 0
        await detachPartition(client, names, name, { archived: snapshot })
        return runInTransaction(client, () => dropDetached(client, names, name, snapshot.cluster))
      })
    // Events that were imported meanwhile keep the rows of their ids.
    const isGone = `NOT EXISTS (SELECT FROM ${names.events} AS e WHERE e.created_at = r.created_at)`
    for (const other of [names.foreignIds, names.removed]) {
      const rows = removeRows(client, { table: other, from, to, where: isGone })
      while (!(await rows.next()).done) throwIfAborted(signal)
    }
    return removed
  })
}

/**
 * Drops the partitions before this time that have no events, for a log with a ledger. Events that are imported meanwhile are put back. Does
 * nothing where partitions cannot be detached, or if the role may not change them.
 */
export function dropEmptyPartitions(
  log: PostgresLog,
  time: Microseconds,
  signal: AbortSignal,
): Promise<void> {
  const { names } = log
  return log.useSession(signal, async (client) => {
    const cluster = log.cluster(client)
    if (!canDrop(log, cluster)) return
    await withRemovalLock(client, names, async () => {
      try {
        await finishDetaching(client, names, cluster)
        // Whatever a transaction after this one stores in the partition is put back.
        const snapshot = await takeSnapshot(client, cluster)
        await confirmCommits(client)
        for (const { name, to } of await attachedPartitions(client, names)) {
          throwIfAborted(signal)
          const isKept = to > time || (await hasOthers(client, tableOf(names, name)))
          if (isKept) continue
          await detachPartition(client, names, name, { archived: snapshot })
          await runInTransaction(client, () => dropDetached(client, names, name, cluster))
        }
      } catch (error) {
        if (!isDenied(error)) throw error
      }
    })
  })
}
