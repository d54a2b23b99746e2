import { setTimeout as delay } from 'node:timers/promises'
import type { RoundEnd } from './round.js'
import type { SealingTuning } from './segment-levels.js'
import { isError } from '../../event/realm.js'
import { type Backoff, backoffMs } from '../../async/backoff.js'
import { createOneTimer } from '../../async/timers.js'
import { warn } from '../../async/warn.js'

/** Keeps the index of a log up to date. */
export interface Sealer {
  /** Checks soon whether there is enough to do, and does it: for events that this process has written. Never throws. */
  readonly checkSoon: () => void
  /**
   * The same for what other processes may have left to do. The more checks in a row find nothing, the longer this waits
   * for the next one: for 10 seconds at most.
   */
  readonly checkEventually: () => void
  /** Resolves once neither this process nor another has anything left to do. For tests. */
  settled(): Promise<void>
  /** Ends the round under way. The next process to check finishes what it began. */
  close(): Promise<void>
}

/** `due` if a round would find work; `leased` if another process has the lease. */
export type Due = 'due' | 'nothing' | 'leased'

/** Work that a store does for its sealer. */
export interface SealerDriver {
  /** Name of the store for warnings. */
  readonly store: string
  findDue(): Due | Promise<Due>
  run(): Promise<RoundEnd>
  /** Ends the round under way soon; `running` resolves once it has ended. */
  close(running: Promise<unknown>): Promise<void>
}

/** Options of both stores' sealers. */
export interface CommonSealerOptions {
  readonly tuning: SealingTuning
  /** A process that dies keeps the lease for at most this long. */
  readonly leaseMs: number
  /** Minimum time between two checks for work. */
  readonly checkMs: number
  /** Maximum pause after an error. Once it is reached, a warning is emitted, once. */
  readonly maxPauseMs: number
}

/** First pause after a round that failed, had nothing to do, or met another process's lease. */
const FIRST_PAUSE_MS = 1000
const SETTLED_CHECK_MS = 20
const MAX_IDLE_MS = 10_000

type End = RoundEnd | 'not due' | 'failed'

/** The number of rounds in a row that failed or found nothing although work was due: pauses grow with it. */
const nextFailures = (end: End, last: number): number =>
  ({ done: 0, 'not due': 0, leased: 1, nothing: last + 1, failed: last + 1 })[end]

function warnOfFailure(store: string, error: unknown): void {
  const reason = isError(error) ? error.message : String(error)
  warn(`the ${store} store keeps trying to build its index, which fails: ${reason}`)
}

export function createSealer(
  driver: SealerDriver,
  { checkMs, maxPauseMs }: Pick<CommonSealerOptions, 'checkMs' | 'maxPauseMs'>,
): Sealer {
  let round: Promise<End> | undefined
  let checkAt = -Infinity
  /** Added to `checkAt` unless this process has written. */
  let idleMs = 0
  /** A check was requested during a round, which may have missed new events. */
  let isCheckRequested = false
  let failures = 0
  const backoff: Backoff = { firstMs: FIRST_PAUSE_MS, maxMs: maxPauseMs }
  let hasWarned = false
  let closed: Promise<void> | undefined

  const runOnce = async (isDue: boolean): Promise<End> => {
    try {
      if (!isDue && (await driver.findDue()) !== 'due') return 'not due'
      return await driver.run()
    } catch (error) {
      // Calls do not fail: queries scan the events that are not in the index.
      if (!closed && !hasWarned && failures > 0 && backoffMs(failures, backoff) === maxPauseMs) {
        hasWarned = true
        warnOfFailure(driver.store, error)
      }
      return 'failed'
    }
  }

  /** Runs a round, after a check that it is due unless `isDue` says so. */
  const runRound = (isDue = false): Promise<End> => {
    isCheckRequested = false
    round = runOnce(isDue).then((end) => {
      round = undefined
      failures = nextFailures(end, failures)
      const pauseMs = failures > 0 ? backoffMs(failures - 1, backoff) : 0
      checkAt = performance.now() + Math.max(checkMs, pauseMs)
      idleMs = end === 'not due' ? Math.min(MAX_IDLE_MS, Math.max(checkMs, 2 * idleMs)) : 0
      if (isCheckRequested || end === 'done' || end === 'failed') schedule()
      return end
    })
    return round
  }

  const timer = createOneTimer(() => {
    if (!round) void runRound()
  })
  const schedule = (at = checkAt): void => {
    if (!closed && !round) timer.watch(at)
  }

  return {
    checkSoon() {
      if (round) isCheckRequested = true
      schedule()
    },
    checkEventually() {
      schedule(checkAt + idleMs)
    },
    async settled() {
      for (;;) {
        // A round under way may have missed the latest events.
        await round
        if (closed) break
        if ((await runRound(true)) === 'nothing' && (await driver.findDue()) !== 'leased') break
        await delay(SETTLED_CHECK_MS)
      }
      failures = 0
      checkAt = performance.now() + checkMs
    },
    close() {
      timer.clear()
      closed ??= driver.close(round ?? Promise.resolve())
      return closed
    },
  }
}
