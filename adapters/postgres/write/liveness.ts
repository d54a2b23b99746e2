import { createAbandonedCheck, type Heartbeat } from '../../../src/coordination/heartbeats.js'
import { eventId } from '../../../src/event/event-id.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import { ask } from '../connection/client.js'
import { abandonLive } from './live.js'
import type { PostgresLog } from '../log/log.js'

const CHECK_MS = 2000

/**
 * Returns a function that closes the live events whose process has stopped sending heartbeats. To be called every few seconds.
 * `onClosed` is called for each event that is closed.
 */
export function createAbandonedClosing(
  log: PostgresLog,
  onClosed: () => void,
  now?: () => number,
): () => Promise<void> {
  const findAbandoned = createAbandonedCheck(now)
  return async () => {
    // An unused store opens no connection.
    if (!log.state()) return
    using wait = timeoutSignal(CHECK_MS)
    await log.use(wait.signal, async (client) => {
      const rows = await ask(
        client,
        `SELECT created_at, suffix, heartbeats FROM ${log.names.liveEvents}`,
      )
      const open = rows.flatMap(([time, suffix, heartbeats]): readonly Heartbeat[] =>
        // Queries report a damaged row.
        typeof suffix === 'string'
          ? [{ id: eventId(Number(time), suffix), heartbeats: Number(heartbeats) }]
          : [],
      )
      for (const { id, heartbeats } of findAbandoned(open))
        if (await abandonLive(client, log, id, heartbeats)) onClosed()
    })
  }
}
