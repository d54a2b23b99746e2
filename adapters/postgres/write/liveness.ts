import { createIntervalLoop } from '../../../src/async/loops.js'
import {
  createAbandonedCheck,
  type Heartbeat,
  WORK_TIMES,
} from '../../../src/coordination/heartbeats.js'
import { eventId } from '../../../src/event/event-id.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import { ask } from '../connection/client.js'
import { abandonLive } from './live.js'
import type { PostgresLog } from '../log/log.js'

const CHECK_MS = 2000

/** Closes live events whose process has stopped sending heartbeats. */
export interface LivenessMonitor {
  /** Closes abandoned events; called every few seconds. */
  check(): Promise<void>
  close(): void
}

/** `onClosed` is called for each event that is closed. */
export function createLivenessMonitor(
  log: PostgresLog,
  onClosed: () => void,
  now?: () => number,
): LivenessMonitor {
  const findSilent = createAbandonedCheck(now)

  const check = async (): Promise<void> => {
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
      for (const { id, heartbeats } of findSilent(open))
        if (await abandonLive(client, log, id, heartbeats)) onClosed()
    })
  }

  // The server may be away; the next check comes soon.
  const loop = createIntervalLoop(check, WORK_TIMES.everyMs)
  loop.start()
  return { check, close: loop.pause }
}
