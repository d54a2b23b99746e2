import { type Beating, BEAT_MS, createSilenceWatch } from '../../../src/store/liveness.js'
import { eventId } from '../../../src/event/event-id.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import { ask } from '../connection/client.js'
import { abandonLive } from './live.js'
import type { PostgresLog } from '../log/log.js'

const LOOK_MS = 2000

/** Closes open live events whose process has died. */
export interface SilenceKeeper {
  /** Closes those that have been silent for too long; called every few seconds. */
  look(): Promise<void>
  close(): void
}

/** `onClosed` is told when some were. */
export function createSilenceKeeper(
  log: PostgresLog,
  onClosed: () => void,
  now?: () => number,
): SilenceKeeper {
  const findSilent = createSilenceWatch(now)

  const look = async (): Promise<void> => {
    // A store that is not used connects to nothing.
    if (!log.state()) return
    using wait = timeoutSignal(LOOK_MS)
    await log.use(wait.signal, async (client, { partitions }) => {
      const rows = await ask(client, `SELECT created_at, tail, beats FROM ${log.names.liveEvents}`)
      const open = rows.map(([time, tail, beats]): Beating => ({
        id: eventId(Number(time), tail!),
        beats: Number(beats),
      }))
      for (const { id, beats } of findSilent(open))
        if (await abandonLive(client, log.names, partitions, id, beats)) onClosed()
    })
  }

  // The server may be away: the next look comes soon.
  const timer = setInterval(() => void look().catch(() => {}), BEAT_MS)
  timer.unref()

  return {
    look,
    close: () => clearInterval(timer),
  }
}
