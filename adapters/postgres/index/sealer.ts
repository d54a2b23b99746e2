import { setTimeout as delay } from 'node:timers/promises'
import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import type { PostgresLog } from '../log/log.js'
import { type Due, findDue } from './due.js'
import { createManners } from './pacing.js'
import { type RoundEnd, sealRound } from './round.js'
import { DEFAULT_TUNING } from './segments.js'

/** Keeps the log's index up to date, in steps between what else the process does. */
export interface Sealer {
  /**
   * Has it looked, a moment later, whether there is enough to do; at most once a second. `hasWritten`
   * says that the process writes, and should have the most of its time for that. Never throws.
   */
  readonly look: (hasWritten?: boolean) => void
  /** Resolves once there is nothing more to do, by whichever process. For tests. */
  settled(): Promise<void>
  /** Ends with the step under way. What has been begun is left to whoever looks next. */
  close(): Promise<void>
}

export interface SealerOptions {
  readonly tuning: SealingTuning
  /** How long others wait for one who has died: a minute at most. */
  readonly leaseMs: number
  /** How often it looks whether there is enough to do. */
  readonly lookMs: number
  /** After an error the pauses grow up to so long; from then on errors are told, once. */
  readonly maxPauseMs: number
}

const DEFAULTS: SealerOptions = {
  tuning: DEFAULT_TUNING,
  leaseMs: 10_000,
  lookMs: 1000,
  maxPauseMs: 60_000,
}

const MIN_PAUSE_MS = 1000
const LOOK_TIMEOUT_MS = 10_000
const CLOSE_MS = 1000
const SETTLED_LOOK_MS = 20

type End = RoundEnd | 'failed'

export function createSealer(log: PostgresLog, given: Partial<SealerOptions> = {}): Sealer {
  const { tuning, leaseMs, lookMs, maxPauseMs } = { ...DEFAULTS, ...given }
  const manners = createManners()
  const closing = new AbortController()
  const giveUp = new AbortController()
  let round: Promise<End> | undefined
  let timer: NodeJS.Timeout | undefined
  let lookAt = -Infinity
  /** Asked for while a round was under way, which may have missed what there is now. */
  let isAsked = false
  let pause = 0
  let hasToldError = false
  let closed: Promise<void> | undefined

  const tellError = (error: unknown): void => {
    if (hasToldError || 2 * pause < maxPauseMs) return
    hasToldError = true
    process.emitWarning(
      `the Postgres store goes on trying to build its index, which fails: ${reasonOf(error)}`,
    )
  }

  /** Where `isDue` is not known, looks first. */
  const runOnce = async (isDue: boolean): Promise<End> => {
    try {
      using wait = timeoutSignal(LOOK_TIMEOUT_MS, giveUp.signal)
      const look = (): Promise<Due> =>
        log.use(wait.signal, (client) => findDue(client, log.names, tuning))
      const due = isDue ? 'due' : await look()
      if (due !== 'due') return due
      return await sealRound(log, {
        tuning,
        leaseMs,
        manners,
        closing: closing.signal,
        giveUp: giveUp.signal,
      })
    } catch (error) {
      // Nobody's call fails for it: queries look at what is not in the index row by row.
      if (!closed) tellError(error)
      return 'failed'
    }
  }

  /** What cannot be done now is not tried again and again. */
  const setPause = (end: End): void => {
    const longer = Math.min(maxPauseMs, Math.max(MIN_PAUSE_MS, 2 * pause))
    pause = { done: 0, leased: 0, nothing: 0, failed: longer }[end]
    lookAt = performance.now() + Math.max(lookMs, pause)
  }

  const runRound = (isDue = false): Promise<End> => {
    if (round) return round
    isAsked = false
    round = runOnce(isDue).then((end) => {
      round = undefined
      setPause(end)
      if (isAsked || end === 'done' || end === 'failed') schedule()
      return end
    })
    return round
  }

  const schedule = (): void => {
    if (closed || round || timer) return
    timer = setTimeout(
      () => {
        timer = undefined
        void runRound()
      },
      Math.max(0, lookAt - performance.now()),
    ).unref()
  }

  return {
    look(hasWritten = false) {
      if (hasWritten) manners.noteWrite()
      if (round) isAsked = true
      schedule()
    },
    async settled() {
      // A round that was under way may have missed the last events.
      await round
      while (!closed && (await runRound(true)) !== 'nothing') await delay(SETTLED_LOOK_MS)
    },
    close: () =>
      (closed ??= (async () => {
        clearTimeout(timer)
        closing.abort()
        const late = setTimeout(() => giveUp.abort(), CLOSE_MS)
        await round
        clearTimeout(late)
      })()),
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)
