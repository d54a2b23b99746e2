import { setTimeout as delay } from 'node:timers/promises'
import { systemClock } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import { DEFAULT_TUNING } from './index-tables.js'
import { isLeased } from './lease.js'
import { restInMain } from './pacing.js'
import type { RoundEnd } from './round.js'
import { localRunner, type SealingOptions, type SealingRunner } from './runner.js'
import { isWorkDue } from './steps.js'
import { sealingThreadFile, startSealingThread } from './start-sealing-thread.js'

/** Keeps the file's index up to date, in a thread that is there while there is something to do. */
export interface Sealer {
  /** Sees whether there is enough to do, unless it did so a moment ago. Never throws. */
  readonly look: () => void
  /** Resolves once there is nothing more to do, by whichever process. For tests. */
  settled(): Promise<void>
  /** Ends the thread. What it has begun is left to whoever opens the file next. */
  close(): Promise<void>
}

export interface SealerOptions extends SealingOptions {
  /** After so long without work the thread ends, to give its memory back. */
  readonly idleMs: number
  /** After an error the pauses grow up to so long; from then on errors are told, once. */
  readonly maxPauseMs: number
  readonly threadFile: () => URL
}

const DEFAULTS: SealerOptions = {
  tuning: DEFAULT_TUNING,
  leaseMs: 10_000,
  idleMs: 10_000,
  maxPauseMs: 60_000,
  threadFile: sealingThreadFile,
}

const LOOK_MS = 100
const SETTLED_LOOK_MS = 20

const MIN_PAUSE_MS = 1000

export function createSealer(connection: Connection, given: Partial<SealerOptions> = {}): Sealer {
  const { tuning, leaseMs, idleMs, maxPauseMs, threadFile } = { ...DEFAULTS, ...given }
  const { database } = connection
  const clock = systemClock()
  let runner: Promise<SealingRunner> | undefined
  let round: Promise<RoundEnd | 'failed'> | undefined
  let canUseThread = true
  let hasToldError = false
  let lookAt = -Infinity
  let pause = 0
  let idle: NodeJS.Timeout | undefined
  let closing: Promise<void> | undefined

  const start = async (): Promise<SealingRunner> => {
    const options = { filename: database.name, tuning, leaseMs }
    if (canUseThread) {
      try {
        return await startSealingThread(threadFile(), options)
      } catch (error) {
        canUseThread = false
        process.emitWarning(
          `the SQLite store builds its index in the main thread, as its thread cannot start: ${reasonOf(error)}`,
        )
      }
    }
    return localRunner(options, restInMain)
  }

  const endRunner = async (): Promise<void> => {
    clearTimeout(idle)
    const ended = runner
    runner = undefined
    await ended?.then((one) => one.close()).catch(() => {})
  }

  /** What cannot be done now is not tried again and again. */
  const setPause = (end: RoundEnd | 'failed'): void => {
    const longer = Math.min(maxPauseMs, Math.max(MIN_PAUSE_MS, 2 * pause))
    pause = { done: 0, leased: MIN_PAUSE_MS, nothing: longer, failed: longer }[end]
    lookAt = performance.now() + Math.max(LOOK_MS, pause)
  }

  const tellError = (error: unknown): void => {
    if (hasToldError || 2 * pause < maxPauseMs) return
    hasToldError = true
    process.emitWarning(
      `the SQLite store goes on trying to build its index, which fails: ${reasonOf(error)}`,
    )
  }

  const runOnce = async (): Promise<RoundEnd | 'failed'> => {
    clearTimeout(idle)
    try {
      const end = await (await (runner ??= start())).run()
      idle = setTimeout(() => void endRunner(), idleMs).unref()
      return end
    } catch (error) {
      // Nobody's call fails for it: queries look at what is not in the index row by row.
      if (closing) return 'failed'
      tellError(error)
      await endRunner()
      return 'failed'
    }
  }

  const runRound = (): Promise<RoundEnd | 'failed'> =>
    (round ??= runOnce().then((end) => {
      round = undefined
      setPause(end)
      return end
    }))

  const isDue = (): boolean => isWorkDue(connection, tuning) && !isLeased(connection, clock())

  return {
    look() {
      if (closing || round || performance.now() < lookAt) return
      lookAt = performance.now() + LOOK_MS
      try {
        if (isDue()) void runRound()
      } catch {
        // What is wrong with the file is told by the calls that need it.
      }
    },
    async settled() {
      // A round that was under way may have missed the last events.
      await round
      while (!closing) {
        const end = await runRound()
        if (end === 'nothing' && !isLeased(connection, clock())) break
        await delay(SETTLED_LOOK_MS)
      }
      pause = 0
      lookAt = -Infinity
    },
    close: () => (closing ??= endRunner()),
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
