import { randomUUID } from 'node:crypto'
import { throwIfAborted } from '../../../src/errors.js'
import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import type { PostgresLog } from '../log/log.js'
import { isSealDue } from './due.js'
import { releaseLease, takeLease } from './lease.js'
import { mergeNext } from './merging.js'
import type { Manners } from './pacing.js'
import { sealNext } from './sealing.js'
import { dropGone, removeOrphans } from './segment-dropping.js'
import type { Steps } from './steps.js'

/** How a round ends: something was done, there was nothing to do, or another process is at it. */
export type RoundEnd = 'done' | 'nothing' | 'leased'

export interface RoundOptions {
  readonly tuning: SealingTuning
  /** How long others wait for one who has died. */
  readonly leaseMs: number
  readonly manners: Manners
  /** Ends the round after the step under way. */
  readonly closing: AbortSignal
  /** Ends the step under way too. */
  readonly giveUp: AbortSignal
}

// What takes longer is taken for a server that hangs.
const STEP_MS = 30_000

// So much computing at once is hardly noticed by who waits for the thread.
const SLICE_MS = 4
// Where there is no rest it may be as much as others have just done at once, but no more than this.
const MAX_SLICE_MS = 20

// So often that a slow step takes no more than the rest of the lease.
const RENEWALS = 4

// Of merging, in lengths of what was done before it.
const REST = 1

/** How often a merge is left alone for newer events. */
const SEAL_LOOK_MS = 1000

/** The lease went to another, who took this one for dead. */
const LOST = Symbol('lost')

interface RoundSteps extends Steps {
  /** The same; after each step `act` is called. */
  between(act: () => Promise<void>): Steps
  release(): Promise<void>
}

function createSteps(log: PostgresLog, options: RoundOptions): RoundSteps {
  const { leaseMs, manners, closing, giveUp } = options
  const { names } = log
  const holder = randomUUID()
  let renewAt = -Infinity
  let sliceAt = performance.now()
  let restTimes = REST
  let sliceMs = SLICE_MS

  const rest = async (ms: number): Promise<void> => {
    const start = performance.now()
    await manners.rest(restTimes * ms)
    sliceAt = performance.now()
    sliceMs = restTimes > 0 ? SLICE_MS : Math.min(MAX_SLICE_MS, Math.max(SLICE_MS, sliceAt - start))
  }

  const run: Steps['run'] = async (step) => {
    throwIfAborted(closing)
    const start = performance.now()
    using wait = timeoutSignal(STEP_MS, giveUp)
    const result = await log.use(wait.signal, async (client) => {
      if (start >= renewAt) {
        if (!(await takeLease(client, names, holder, leaseMs))) throw LOST
        renewAt = start + leaseMs / RENEWALS
      }
      await manners.watch(client, names)
      return step(client)
    })
    await rest(performance.now() - start)
    return result
  }

  const steps: Steps = {
    names,
    run,
    isTurn: () => performance.now() - sliceAt >= sliceMs,
    async turn() {
      throwIfAborted(closing)
      await rest(performance.now() - sliceAt)
    },
    restFor: (given) => void (restTimes = given),
  }
  return {
    ...steps,
    between: (act) => ({
      ...steps,
      async run(step) {
        const result = await run(step)
        await act()
        return result
      },
    }),
    async release() {
      if (renewAt === -Infinity || giveUp.aborted) return
      using wait = timeoutSignal(STEP_MS, giveUp)
      await log.use(wait.signal, (client) => releaseLease(client, names, holder))
    },
  }
}

/**
 * Does all that there is to do, while it has the lease. Sealing comes first, also in the middle of a
 * merge, which can take minutes: what is unsealed queries read row by row.
 */
export async function sealRound(log: PostgresLog, options: RoundOptions): Promise<RoundEnd> {
  const { tuning } = options
  const steps = createSteps(log, options)
  let lookAt = -Infinity

  /** Until there is no more; true where there was some. */
  const runAll = async (act: (steps: Steps) => Promise<boolean>): Promise<boolean> => {
    let times = 0
    while (await act(steps)) times += 1
    return times > 0
  }

  const seal = async (): Promise<boolean> => {
    const hasSealed = await runAll((one) => sealNext(one, tuning))
    steps.restFor(REST)
    return hasSealed
  }

  const sealNewer = async (): Promise<void> => {
    if (performance.now() < lookAt) return
    if (await steps.run((client) => isSealDue(client, steps.names, tuning))) await seal()
    lookAt = performance.now() + SEAL_LOOK_MS
  }

  const runSteps = async (): Promise<RoundEnd> => {
    const hasRemoved = await runAll(removeOrphans)
    const hasDropped = await runAll(dropGone)
    let hasDone = hasRemoved || hasDropped
    for (;;) {
      const hasSealed = await seal()
      const hasMerged = await mergeNext(steps.between(sealNewer), tuning)
      if (!hasSealed && !hasMerged) return hasDone ? 'done' : 'nothing'
      hasDone = true
    }
  }

  try {
    return await runSteps()
  } catch (error) {
    if (error === LOST) return 'leased'
    throw error
  } finally {
    // Where that does not succeed the lease ends by itself.
    await steps.release().catch(() => {})
  }
}
