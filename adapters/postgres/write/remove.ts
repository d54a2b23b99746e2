import { setTimeout as delay } from 'node:timers/promises'
import { throwIfAborted } from '../../../src/errors.js'
import { isUuid, parseEventId } from '../../../src/event/event-id.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import type { PostgresLog } from '../log/log.js'
import type { Names } from '../schema/names.js'
import { dropPartitions, finishDetaching } from '../schema/partitions.js'

const BATCH = 250

// What a crash brings back is removed by the next call; the disk is left to those who append. What is
// durable and comes later brings the removal along.
const WITHOUT_WAITING = `set_config('synchronous_commit', 'off', true)`

const MAX_PAUSE_MS = 1000

/** Runs a transaction that removes some, and leaves the server about the same time for others. */
async function withManners<Result>(remove: () => Promise<Result>): Promise<Result> {
  const begun = performance.now()
  const result = await remove()
  await delay(Math.min(performance.now() - begun, MAX_PAUSE_MS))
  return result
}

/** Removes rows before `time`, oldest first; yields the number of each transaction. */
async function* removeRows(
  client: PostgresPoolClient,
  table: string,
  time: Microseconds,
): AsyncGenerator<number> {
  // What has been removed stays in the index for a while: it is not gone through again.
  let from = 0
  for (;;) {
    const [row] = await withManners(() =>
      ask(
        client,
        `WITH removed AS (
           DELETE FROM ${table} WHERE created_at IN (
             SELECT created_at FROM ${table} WHERE created_at >= $1 AND created_at < $2
             ORDER BY created_at LIMIT ${BATCH}
           ) RETURNING created_at
         ) SELECT count(*), max(created_at), ${WITHOUT_WAITING} FROM removed`,
        from,
        time,
      ),
    )
    const [count, last] = row!.map(Number)
    if (count! > 0) yield count!
    if (count! < BATCH) return
    from = last! + 1
  }
}

/**
 * Whole partitions are detached and dropped, by one process at a time; what is left goes in short
 * transactions.
 */
export function removeBefore(
  log: PostgresLog,
  time: Microseconds,
  signal: AbortSignal,
  onProgress: (removed: number) => void = () => {},
): Promise<number> {
  const { names } = log
  return log.use(signal, async (client, { partitions }) => {
    let removed = 0
    const add = (count: number): void => {
      removed += count
      onProgress(removed)
    }
    if (partitions !== 'none') {
      // No transaction can detach without waiting, so the lock is one of the session.
      await ask(client, `SELECT pg_advisory_lock(${names.locks.removal})`)
      try {
        await finishDetaching(client, names)
        for await (const dropped of dropPartitions(client, names, time)) add(dropped)
      } finally {
        await ask(client, `SELECT pg_advisory_unlock(${names.locks.removal})`)
      }
    }
    for await (const count of removeRows(client, names.events, time)) {
      add(count)
      throwIfAborted(signal)
    }
    const forgotten = removeRows(client, names.foreignIds, time)
    while (!(await forgotten.next()).done) throwIfAborted(signal)
    return removed
  })
}

/** One transaction for some of the ids; gives how many events it removed. */
async function removeSome(
  client: PostgresPoolClient,
  { events, foreignIds }: Names,
  ids: readonly string[],
): Promise<number> {
  const carried = ids.flatMap((id) => parseEventId(id) ?? [])
  const [row] = await ask(
    client,
    `WITH places AS MATERIALIZED (
       SELECT time, tail FROM unnest($1::bigint[], $2::text[]) AS carried(time, tail)
       UNION ALL SELECT created_at, id FROM ${foreignIds} WHERE id = ANY ($3::text[])
     ), forgotten AS (
       DELETE FROM ${foreignIds} WHERE id = ANY ($3::text[])
     ), removed AS (
       DELETE FROM ${events}
       WHERE created_at = ANY (ARRAY(SELECT time FROM places))
         AND (created_at, tail) IN (SELECT time, tail FROM places)
       RETURNING 1
     )
     SELECT count(*), ${WITHOUT_WAITING} FROM removed`,
    carried.map(({ time }) => time),
    carried.map(({ tail }) => tail),
    ids,
  )
  return Number(row![0])
}

/** As `EventStore.remove`, in short transactions. */
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
      removed += await withManners(() => removeSome(client, log.names, given.slice(at, at + BATCH)))
    }
    return removed
  })
}
