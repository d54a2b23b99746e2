import { setImmediate as nextTurn } from 'node:timers/promises'
import { throwIfAborted } from '../../src/errors.js'
import type { Microseconds } from '../../src/timestamp.js'
import { ask } from './client.js'
import type { PostgresLog } from './log.js'
import { dropPartitions, finishDetaching } from './partitions.js'

const BATCH = 1000

/**
 * Whole partitions are detached and dropped, by one process at a time; what is left goes in short
 * transactions.
 */
export function removeEvents(
  log: PostgresLog,
  time: Microseconds,
  signal: AbortSignal,
): Promise<number> {
  const { names } = log
  return log.use(signal, async (client, { partitions }) => {
    const all = async (table: string): Promise<number> => {
      for (let removed = 0; ; await nextTurn()) {
        throwIfAborted(signal)
        const [row] = await ask(
          client,
          `WITH removed AS (
             DELETE FROM ${table} WHERE created_at IN (
               SELECT created_at FROM ${table} WHERE created_at < $1 ORDER BY created_at LIMIT ${BATCH}
             ) RETURNING 1
           ) SELECT count(*) FROM removed`,
          time,
        )
        removed += Number(row![0])
        if (Number(row![0]) < BATCH) return removed
      }
    }
    let removed = 0
    if (partitions !== 'none') {
      // No transaction can detach without waiting, so the lock is one of the session.
      await ask(client, `SELECT pg_advisory_lock(${names.locks.removal})`)
      try {
        await finishDetaching(client, names)
        removed += await dropPartitions(client, names, time)
      } finally {
        await ask(client, `SELECT pg_advisory_unlock(${names.locks.removal})`)
      }
    }
    removed += await all(names.events)
    await all(names.foreignIds)
    return removed
  })
}
