import { ask, type PostgresPoolClient } from '../connection/client.js'
import { createIntervalLoop } from '../../../src/async/loops.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import { walBytes } from './wal-position.js'

/** Recent WAL positions of the primary, each with the time of this process's clock at which it was asked for. */
export interface PrimaryPositions {
  /**
   * Maximum age, in milliseconds, of the state of a server that has replayed the WAL up to the position. The state has
   * everything that was committed earlier than this age ago. Infinity if the age is not known.
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
/** Sampling stops after this time without a call of `ageOf`. */
const IDLE_MS = 10_000

/** Runs work with a connection to the primary. */
interface Primary {
  readonly use: <Result>(
    signal: AbortSignal,
    act: (client: PostgresPoolClient) => Promise<Result>,
  ) => Promise<Result>
}

/** Samples the primary's WAL position several times per `maxAgeMs` while `ageOf` is called. */
export function createPrimaryPositions(primary: Primary, maxAgeMs: number): PrimaryPositions {
  let samples: readonly Sample[] = []
  let lastUse = 0

  const sample = async (): Promise<void> => {
    using wait = timeoutSignal(SAMPLE_MS)
    // The time is read before the query, so the position includes every commit acknowledged up to this time.
    const at = performance.now()
    const [row] = await primary.use(wait.signal, (client) =>
      ask(client, 'SELECT pg_current_wal_flush_lsn()'),
    )
    const recent = samples.filter((one) => at - one.at <= maxAgeMs)
    samples = [...recent, { at, position: walBytes(row![0]!) }]
  }

  // While the primary is away, nothing is known about the age.
  const sampling = createIntervalLoop(
    async () => {
      if (performance.now() - lastUse > IDLE_MS) sampling.pause()
      await sample()
    },
    Math.min(Math.max(maxAgeMs / 5, MIN_INTERVAL_MS), MAX_INTERVAL_MS),
  )

  return {
    ageOf(position) {
      lastUse = performance.now()
      if (!sampling.isOn()) {
        sampling.start()
        sampling.now()
      }
      const found = samples.findLast((one) => one.position <= position)
      return found ? lastUse - found.at : Infinity
    },
    close: sampling.pause,
  }
}
