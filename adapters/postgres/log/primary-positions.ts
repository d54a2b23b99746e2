import { ask } from '../connection/client.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import type { PostgresLog } from './log.js'
import { walBytes } from './wal-position.js'

/** Where the write-ahead log of the primary was at some recent times, by the clock of this process. */
export interface PrimaryPositions {
  /**
   * The greatest possible age, in milliseconds, of the state of a server that has replayed up to the position: what was
   * committed before that time is in it. Infinity if it is not known.
   */
  ageOf(position: bigint): number
  close(): void
}

interface Sample {
  readonly at: number
  readonly position: bigint
}

const MAX_INTERVAL_MS = 1000
const MIN_INTERVAL_MS = 20
const SAMPLE_MS = 5000
/** Without calls of `ageOf` for this long, the primary is no longer asked. */
const IDLE_MS = 10_000

/** Asks the primary several times within `maxAgeMs`, while ages are asked for. */
export function createPrimaryPositions(log: PostgresLog, maxAgeMs: number): PrimaryPositions {
  let samples: readonly Sample[] = []
  let timer: NodeJS.Timeout | undefined
  let lastUse = 0
  let isSampling = false

  const sample = async (): Promise<void> => {
    using wait = timeoutSignal(SAMPLE_MS)
    // Taken before the question: what was acknowledged by then is before the position.
    const at = performance.now()
    const [row] = await log.use(wait.signal, (client) =>
      ask(client, 'SELECT pg_current_wal_flush_lsn()'),
    )
    const recent = samples.filter((one) => at - one.at <= maxAgeMs)
    samples = [...recent, { at, position: walBytes(row![0]!) }]
  }

  const stop = (): void => {
    clearInterval(timer)
    timer = undefined
  }

  const tick = (): void => {
    if (performance.now() - lastUse > IDLE_MS) stop()
    if (isSampling) return
    isSampling = true
    // While the primary is away, nothing is known about the age.
    void sample()
      .catch(() => {})
      .finally(() => (isSampling = false))
  }

  return {
    ageOf(position) {
      lastUse = performance.now()
      if (!timer) {
        const interval = Math.min(Math.max(maxAgeMs / 5, MIN_INTERVAL_MS), MAX_INTERVAL_MS)
        timer = setInterval(tick, interval).unref()
        tick()
      }
      const found = samples.findLast((one) => one.position <= position)
      return found ? lastUse - found.at : Infinity
    },
    close: stop,
  }
}
