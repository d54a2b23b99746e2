import { setTimeout as delay } from 'node:timers/promises'
import { throwIfAborted } from '../../../src/errors.js'
import { parseEventId } from '../../../src/event/event-id.js'
import { isUuid } from '../../../src/event/uuid.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import type { PostgresLog } from '../log/log.js'
import type { Names } from '../schema/names.js'
import { countRemovedSql, noteRemovedSql } from '../schema/removed-events.js'
import { requireNoLedger } from '../schema/ledger.js'
import { finishDetaching } from '../schema/detached-partitions.js'
import { dropPartitions } from '../schema/partition-changes.js'

const BATCH = 250

// Removals do not wait for the disk, which is left to appends. If a crash undoes one, the next call
// removes the events again.
const WITHOUT_FLUSH = `set_config('synchronous_commit', 'off', true)`

const MAX_PAUSE_MS = 1000

/** Runs a transaction, then pauses for as long as it took, so that other clients get their share. */
async function paced<Result>(remove: () => Promise<Result>): Promise<Result> {
  const begun = performance.now()
  const result = await remove()
  await delay(Math.min(performance.now() - begun, MAX_PAUSE_MS))
  return result
}

/** Which rows of a table to remove. */
interface RemovedRows {
  readonly table: string
  /** @default 0 */
  readonly from?: Microseconds
  /** Rows before this time. */
  readonly to: Microseconds
  /** SQL. @default all of them */
  readonly where?: string
}

/** Removes rows, oldest first. Yields the number of rows that each transaction removed. */
export async function* removeRows(
  client: PostgresPoolClient,
  { table, from = 0, to, where = 'true' }: RemovedRows,
): AsyncGenerator<number> {
  // Index entries of removed rows stay until a vacuum: `start` skips them.
  for (let start = from; ;) {
    const [row] = await paced(() =>
      ask(
        client,
        `WITH removed AS (
           DELETE FROM ${table} WHERE created_at IN (
             SELECT created_at FROM ${table} AS r WHERE created_at >= $1 AND created_at < $2 AND ${where}
             ORDER BY created_at LIMIT ${BATCH}
           ) RETURNING created_at
         ) SELECT count(*), max(created_at), ${WITHOUT_FLUSH} FROM removed`,
        start,
        to,
      ),
    )
    const [count, last] = row!.map(Number)
    if (count! > 0) yield count!
    if (count! < BATCH) return
    start = last! + 1
  }
}

/** Notes that events before this time are removed without being counted, unless it is in the future. */
export async function noteRemovedBefore(
  client: PostgresPoolClient,
  { indexState, highWater }: Names,
  time: Microseconds,
): Promise<void> {
  await ask(
    client,
    `UPDATE ${indexState} SET removed_before =
       greatest(removed_before, least($1, (SELECT last_value + 1 FROM ${highWater})))`,
    time,
  )
}

/** Runs `act` while no other process removes or makes partitions. */
export async function withRemovalLock<Result>(
  client: PostgresPoolClient,
  { locks }: Names,
  act: () => Promise<Result>,
): Promise<Result> {
  // DETACH CONCURRENTLY cannot run in a transaction, so the session holds the lock.
  await ask(client, `SELECT pg_advisory_lock(${locks.removal})`)
  try {
    return await act()
  } finally {
    await ask(client, `SELECT pg_advisory_unlock(${locks.removal})`)
  }
}

/**
 * Like `EventStore.removeBefore`. One process at a time drops partitions; the rest is removed in short
 * transactions.
 */
export function removeBefore(
  log: PostgresLog,
  time: Microseconds,
  signal: AbortSignal,
  onProgress: (removed: number) => void = () => {},
): Promise<number> {
  const { names } = log
  return log.useSession(signal, async (client) => {
    await requireNoLedger(client, names)
    await noteRemovedBefore(client, names, time)
    let removed = 0
    const add = (count: number): void => {
      removed += count
      onProgress(removed)
    }
    if (log.partitions() !== 'none' && log.hasSessions()) {
      const cluster = log.cluster(client)
      const isConcurrent = log.placeSql() === ''
      await log.define(client, (definer) =>
        withRemovalLock(definer, names, async () => {
          await finishDetaching(definer, names, cluster)
          for await (const dropped of dropPartitions(definer, names, time, {
            cluster,
            isConcurrent,
          }))
            add(dropped)
        }),
      )
    }
    // A request to cancel that came between two statements has had no effect.
    throwIfAborted(signal)
    for await (const count of removeRows(client, { table: names.events, to: time })) {
      add(count)
      throwIfAborted(signal)
      await requireNoLedger(client, names)
    }
    for (const table of [names.foreignIds, names.removed]) {
      const rows = removeRows(client, { table, to: time })
      while (!(await rows.next()).done) throwIfAborted(signal)
    }
    return removed
  })
}

/** Removes the events with the ids in one transaction; returns their number. */
async function removeBatch(
  client: PostgresPoolClient,
  names: Names,
  ids: readonly string[],
): Promise<number> {
  const { events, foreignIds } = names
  const parsed = ids.flatMap((id) => parseEventId(id) ?? [])
  const [row] = await ask(
    client,
    `WITH places AS MATERIALIZED (
       SELECT time, suffix FROM unnest($1::bigint[], $2::text[]) AS parsed(time, suffix)
       UNION ALL SELECT created_at, id FROM ${foreignIds} WHERE id = ANY ($3::text[])
     ), removed_ids AS (
       DELETE FROM ${foreignIds} WHERE id = ANY ($3::text[])
     ), deleted AS (
       DELETE FROM ${events}
       WHERE created_at = ANY (ARRAY(SELECT time FROM places))
         AND (created_at, suffix) IN (SELECT time, suffix FROM places)
       RETURNING created_at
     ), counted AS (${countRemovedSql(names)}), noted AS (${noteRemovedSql(names)})
     SELECT count(*), ${WITHOUT_FLUSH} FROM deleted`,
    parsed.map(({ time }) => time),
    parsed.map(({ suffix }) => suffix),
    ids,
  )
  return Number(row![0])
}

/** Like `EventStore.remove`, in short transactions. */
export function removeIds(
  log: PostgresLog,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  return log.use(signal, async (client) => {
    let removed = 0
    const given = ids.filter(isUuid)
    for (let at = 0; at < given.length; at += BATCH) {
      throwIfAborted(signal)
      await requireNoLedger(client, log.names)
      removed += await paced(() => removeBatch(client, log.names, given.slice(at, at + BATCH)))
    }
    return removed
  })
}
