import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import { runRound } from '../../../src/store-kit/index-builder/round.js'
import { INDEX_LEASE_MS } from '../../../src/coordination/times.js'
import {
  type CommonSealerOptions,
  createSealer,
  type Sealer,
} from '../../../src/store-kit/index-builder/sealer.js'
import { INDEX_BOUNDS } from '../../../src/store-kit/index/index-bounds.js'
import type { PostgresPoolClient } from '../connection/client.js'
import type { PostgresLog } from '../log/log.js'
import type { RunTransaction } from './driver-context.js'
import { findDue } from './due.js'
import { createDriver } from './index-driver.js'
import { DEFAULT_TUNING } from './index-state.js'
import { createLease } from './lease.js'
import { createPacer } from './pacing.js'

/** A lease lasts for at most a minute. */
export interface SealerOptions extends CommonSealerOptions {
  /** Sealing does not rest while more events are in no segment. */
  readonly maxUnindexed: number
}

export interface PostgresSealer extends Sealer {
  /** `hasWritten` says that this process has just written, so that the sealer rests longer. */
  readonly checkSoon: (hasWritten?: boolean) => void
}

const DEFAULTS: SealerOptions = {
  tuning: DEFAULT_TUNING,
  leaseMs: INDEX_LEASE_MS,
  checkMs: 1000,
  maxPauseMs: 60_000,
  maxUnindexed: Infinity,
}

/** If the index is this many segments behind, sealing does not rest, however many events may be unindexed. */
const MAX_BEHIND = 8

/** How often a merge checks whether there is shorter work to do. */
const SEAL_CHECK_MS = 1000

const CHECK_TIMEOUT_MS = 10_000
/** A step that takes longer has probably met a server that hangs. */
const STEP_TIMEOUT_MS = 30_000
/** The step under way may take this long after `close`. */
const CLOSE_MS = 1000

/** Keeps the index of the log up to date, in small steps between which the process does other work. */
export function createPostgresSealer(
  log: PostgresLog,
  given: Partial<SealerOptions> = {},
): PostgresSealer {
  const options = { ...DEFAULTS, ...given }
  const { tuning, leaseMs, maxUnindexed } = options
  const { names } = log
  const maxBehind = Math.max(1, Math.min(MAX_BEHIND, Math.floor(maxUnindexed / tuning.segmentSize)))
  const pacer = createPacer()
  const closing = new AbortController()
  const giveUp = new AbortController()

  const use = async <Result>(
    timeoutMs: number,
    act: (client: PostgresPoolClient) => Promise<Result>,
  ): Promise<Result> => {
    using timeout = timeoutSignal(timeoutMs, giveUp.signal)
    return await log.use(timeout.signal, act)
  }

  const sealer = createSealer(
    {
      store: 'Postgres',
      findDue: () => use(CHECK_TIMEOUT_MS, (client) => findDue(client, names, tuning)),
      run: () => {
        let server: string | undefined
        /** Throws if a round that has read from one server writes to another, which may lack some of the events. */
        const checkServer = (client: PostgresPoolClient): void => {
          server ??= log.server(client)
          if (log.server(client) !== server) throw new Error('Postgres has moved to another server')
        }
        const transact: RunTransaction = (act) =>
          use(STEP_TIMEOUT_MS, async (client) => {
            checkServer(client)
            await pacer.watch(client, names)
            return act(client)
          })
        return runRound({
          tuning,
          leaseMs,
          sealCheckMs: SEAL_CHECK_MS,
          lease: createLease(names, (act) => use(STEP_TIMEOUT_MS, act)),
          pacer,
          signal: closing.signal,
          createDriver: (steps) =>
            createDriver({
              names,
              steps,
              bounds: tuning.bounds ?? INDEX_BOUNDS,
              maxBehind,
              run: (act) => steps.run(() => transact(act)),
              start: (act) => steps.start(() => transact(act)),
            }),
        })
      },
      async close(running) {
        closing.abort()
        const late = setTimeout(() => giveUp.abort(), CLOSE_MS)
        await running
        clearTimeout(late)
      },
    },
    options,
  )
  return {
    ...sealer,
    checkSoon(hasWritten = false) {
      if (hasWritten) pacer.noteWrite()
      sealer.checkSoon()
    },
  }
}
