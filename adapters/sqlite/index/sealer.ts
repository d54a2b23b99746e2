import { systemClock } from '../../../src/event/timestamp.js'
import {
  type CommonSealerOptions,
  createSealer,
  type Due,
  type Sealer,
} from '../../../src/store-kit/index-builder/sealer.js'
import type { Connection } from '../connection/connection.js'
import { DEFAULT_CACHE_BYTES } from '../connection/page-cache.js'
import type { Compression } from './compression.js'
import { createEarlyCheck, findDue } from './due.js'
import { DEFAULT_TUNING } from './index-state.js'
import { pacerInMain } from './pacing.js'
import { createRoundRunner, type RoundRunner } from './round-runner.js'
import { sealingThreadFile, startSealingThread } from './start-sealing-thread.js'

export interface SealerOptions extends CommonSealerOptions {
  /** The thread ends after this long without work, to free its memory. */
  readonly idleMs: number
  readonly threadFile: () => URL
  readonly compression: Compression
  /** Memory for pages of the file. */
  readonly cacheBytes: number
}

const DEFAULTS: SealerOptions = {
  tuning: DEFAULT_TUNING,
  leaseMs: 10_000,
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

/** Keeps the index of the file up to date in a thread, which runs only while there is work. */
export function createSqliteSealer(
  connection: Connection,
  given: Partial<SealerOptions> = {},
): SqliteSealer {
  const options = { ...DEFAULTS, ...given }
  const { tuning, leaseMs, idleMs, threadFile, compression, cacheBytes } = options
  const { database, driver } = connection
  const clock = systemClock()
  let runner: Promise<RoundRunner> | undefined
  const isEarlyDue = tuning.early ? createEarlyCheck(connection, tuning.early) : () => false
  let isEarly = false
  let canUseThread = true
  let idle: NodeJS.Timeout | undefined
  let isClosed = false

  const start = async (): Promise<RoundRunner> => {
    const runnerOptions = {
      filename: database.name,
      driver: driver.name,
      tuning,
      compression,
      leaseMs,
      cacheBytes,
    }
    if (canUseThread) {
      try {
        return await startSealingThread(threadFile(), runnerOptions)
      } catch (error) {
        canUseThread = false
        const reason = error instanceof Error ? error.message : String(error)
        process.emitWarning(
          `the SQLite store builds its index in the main thread because its thread cannot start: ${reason}`,
        )
      }
    }
    return createRoundRunner(runnerOptions, pacerInMain)
  }

  const endRunner = async (): Promise<void> => {
    clearTimeout(idle)
    idle = undefined
    const ended = runner
    runner = undefined
    await ended?.then((one) => one.close()).catch(() => {})
  }

  const startIdling = (): void => {
    clearTimeout(idle)
    idle = setTimeout(() => void endRunner(), idleMs).unref()
  }

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
      async run() {
        clearTimeout(idle)
        idle = undefined
        const wasEarly = isEarly
        isEarly = false
        try {
          const end = await (await (runner ??= start())).run(wasEarly)
          startIdling()
          return end
        } catch (error) {
          await endRunner()
          throw error
        }
      },
      close() {
        isClosed = true
        return endRunner()
      },
    },
    options,
  )
  return {
    ...sealer,
    checkpoint() {
      if (isClosed) return
      // While a round is under way, the thread is not idle.
      if (idle || !runner) startIdling()
      ;(runner ??= start()).then((one) => one.checkpoint()).catch(() => {})
    },
  }
}
