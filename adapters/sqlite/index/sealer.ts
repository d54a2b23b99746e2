import { systemClock } from '../../../src/event/timestamp.js'
import { INDEX_LEASE_MS } from '../../../src/coordination/times.js'
import {
  type CommonSealerOptions,
  createSealer,
  type Due,
  type Sealer,
} from '../../../src/store-kit/index-builder/sealer.js'
import type { RoundEnd } from '../../../src/store-kit/index-builder/round.js'
import { newLockState } from '../connection/checkpointer.js'
import type { Connection } from '../connection/connection.js'
import { DEFAULT_CACHE_BYTES } from '../connection/page-cache.js'
import { createEarlyCheck, findDue } from './due.js'
import { DEFAULT_TUNING } from './index-state.js'
import { pacerInMain } from './pacing.js'
import { createRoundRunner, type RoundRunner, type RunnerOptions } from './round-runner.js'
import { sealingThreadFile, startSealingThread } from './start-sealing-thread.js'
import { warn } from '../../../src/async/warn.js'

export interface SealerOptions
  extends
    CommonSealerOptions,
    Required<Pick<RunnerOptions, 'compression' | 'cacheBytes' | 'lock'>> {
  /** The thread ends after this long without work, to free its memory. */
  readonly idleMs: number
  readonly threadFile: () => URL
}

const DEFAULTS: Omit<SealerOptions, 'lock'> = {
  tuning: DEFAULT_TUNING,
  leaseMs: INDEX_LEASE_MS,
  checkMs: 100,
  maxPauseMs: 60_000,
  idleMs: 10_000,
  threadFile: sealingThreadFile,
  compression: 'none',
  cacheBytes: DEFAULT_CACHE_BYTES,
}

/** A sealer whose thread also checkpoints the WAL. */
export interface SqliteSealer extends Sealer {
  /** Call it when the WAL is long. */
  readonly checkpoint: () => void
}

/** The runner of rounds, in a thread or in the main one, which ends after some time without work. */
function createKeptRunner(connection: Connection, options: SealerOptions) {
  const { idleMs, threadFile, ...common } = options
  const { database, driver } = connection
  let runner: Promise<RoundRunner> | undefined
  let canUseThread = true
  let idle: NodeJS.Timeout | undefined
  let isWorking = false

  const start = async (): Promise<RoundRunner> => {
    const runnerOptions = { ...common, filename: database.name, driver: driver.name }
    if (canUseThread) {
      try {
        return await startSealingThread(threadFile(), runnerOptions)
      } catch (error) {
        canUseThread = false
        const reason = error instanceof Error ? error.message : String(error)
        warn(
          `the SQLite store builds its index in the main thread because its thread cannot start: ${reason}`,
        )
      }
    }
    return createRoundRunner(runnerOptions, pacerInMain)
  }

  const end = async (): Promise<void> => {
    clearTimeout(idle)
    const ended = runner
    runner = undefined
    await ended?.then((one) => one.close()).catch(() => {})
  }
  const get = (): Promise<RoundRunner> => {
    clearTimeout(idle)
    return (runner ??= start())
  }
  const rest = (): void => {
    clearTimeout(idle)
    if (!isWorking) idle = setTimeout(() => void end(), idleMs).unref()
  }

  return {
    end,
    async run(isEarly: boolean): Promise<RoundEnd> {
      isWorking = true
      try {
        return await (await get()).run(isEarly)
      } catch (error) {
        await end()
        throw error
      } finally {
        isWorking = false
        if (runner) rest()
      }
    },
    async checkpoint(): Promise<void> {
      const one = await get()
      one.checkpoint()
      rest()
    },
  }
}

/** Keeps the index of the file up to date in a thread, which runs only while there is work. */
export function createSqliteSealer(
  connection: Connection,
  given: Partial<SealerOptions> = {},
): SqliteSealer {
  const options = { ...DEFAULTS, lock: newLockState(), ...given }
  const { tuning, compression } = options
  const clock = systemClock()
  const runner = createKeptRunner(connection, options)
  const isEarlyDue = tuning.early ? createEarlyCheck(connection, tuning.early) : () => false
  let isEarly = false
  let isClosed = false

  const sealer = createSealer(
    {
      store: 'SQLite',
      findDue(): Due {
        try {
          isEarly = isEarlyDue()
          const due = findDue(connection, { tuning, compression }, clock())
          return isEarly && due === 'nothing' ? 'due' : due
        } catch {
          // The store's own calls report what is wrong with the file.
          return 'nothing'
        }
      },
      run() {
        const wasEarly = isEarly
        isEarly = false
        return runner.run(wasEarly)
      },
      close() {
        isClosed = true
        return runner.end()
      },
    },
    options,
  )
  return {
    ...sealer,
    checkpoint() {
      if (!isClosed) runner.checkpoint().catch(() => {})
    },
  }
}
