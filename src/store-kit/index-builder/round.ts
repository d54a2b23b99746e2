import type { Builder } from './builder.js'
import type { IndexDriver } from '../maintenance/driver.js'
import { rebuildNext } from './rebuilding.js'
import { sealEarly } from './sealing.js'
import { dropAbandoned, dropExpired } from './segment-dropping.js'
import type { SealingTuning } from './segment-levels.js'
import { createSteps, LEASE_LOST, type StepOptions, type StepRunner } from './steps.js'
import { createTurns } from './turns.js'

/** How a round ends: work was done, there was no work, or another process has the lease. */
export type RoundEnd = 'done' | 'nothing' | 'leased'

export interface RoundOptions extends Omit<StepOptions, 'afterRest'> {
  readonly tuning: SealingTuning
  /** How often a merge checks whether there is shorter work to do. */
  readonly sealCheckMs: number
  readonly createDriver: (steps: StepRunner) => IndexDriver
  /** Seals fewer events than a segment has, once: see `EarlySealing`. */
  readonly isEarly?: boolean
}

/** Does all the work there is for the index while it has the lease. */
export async function runRound(options: RoundOptions): Promise<RoundEnd> {
  const { tuning, sealCheckMs, createDriver, isEarly = false, ...stepOptions } = options
  const steps = createSteps({ ...stepOptions, afterRest: () => turns.interrupt() })
  const driver = createDriver(steps)
  const builder: Builder = { driver, steps, tuning }
  const turns = createTurns(builder, sealCheckMs)

  /** Repeats the work until there is no more; true if there was any. */
  const repeat = async (work: (builder: Builder) => Promise<boolean>): Promise<boolean> => {
    let count = 0
    while (await work(builder)) count += 1
    return count > 0
  }

  try {
    await steps.keepLease()
    const hasDroppedAbandoned = await repeat(dropAbandoned)
    const hasDroppedExpired = await repeat(dropExpired)
    let hasWorked = hasDroppedAbandoned || hasDroppedExpired
    for (let canSealEarly = isEarly; ; canSealEarly = false) {
      const hasSealed = (await turns.seal()) || (canSealEarly && (await sealEarly(builder)))
      const hasRebuilt = await turns.repeat(() => rebuildNext(builder))
      const hasMerged = await turns.merge()
      const hasPacked = await turns.repeat(async () => (await driver.pack?.()) ?? false)
      if (!hasSealed && !hasRebuilt && !hasMerged && !hasPacked)
        return hasWorked ? 'done' : 'nothing'
      hasWorked = true
    }
  } catch (error) {
    if (error === LEASE_LOST) return 'leased'
    throw error
  } finally {
    await steps.releaseLease()
  }
}
