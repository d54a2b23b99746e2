import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import { ask } from '../connection/client.js'
import type { PostgresLog } from '../log/log.js'
import { periodsAhead } from '../schema/partitions.js'

const INTERVAL_MS = 3_600_000
const RETRY_MS = 60_000
const LIMIT_MS = 2000

/** Creates partitions before they are needed. */
export interface PartitionsAhead {
  create(signal: AbortSignal): Promise<void>
  /** Once an hour. A failure is ignored and retried later, as an append without partition creates it. */
  createWhenDue(): Promise<void>
}

export function createPartitionsAhead(log: PostgresLog): PartitionsAhead {
  let next = performance.now() + INTERVAL_MS

  const create = (signal: AbortSignal): Promise<void> =>
    log.use(signal, async (client) => {
      const [row] = await ask(
        client,
        `SELECT greatest(last_value, coalesce($1, extract(epoch FROM now()) * 1000000)::bigint)
         FROM ${log.names.highWater}`,
        log.now() ?? null,
      )
      await log.makePartitions(client, periodsAhead(Number(row![0]), log.partitions()))
      next = performance.now() + INTERVAL_MS
    })

  return {
    create,
    async createWhenDue() {
      if (performance.now() < next) return
      next = performance.now() + RETRY_MS
      using wait = timeoutSignal(LIMIT_MS)
      await create(wait.signal).catch(() => {})
    },
  }
}
