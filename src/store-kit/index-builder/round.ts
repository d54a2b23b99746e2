import type { Builder } from './builder.js'
import type { IndexDriver } from './index-driver.js'
import { mergeNext } from './merging.js'
import { notingDamage, rebuildNext } from './rebuilding.js'
import { sealEarly, sealNext } from './sealing.js'
import { dropAbandoned, dropExpired } from './segment-dropping.js'
import type { SealingTuning } from './segment-levels.js'
import { createSteps, LEASE_LOST, type StepOptions, type StepRunner } from './steps.js'

/** How a round ends: work was done, there was no work, or another process has the lease. */
export type RoundEnd = 'done' | 'nothing' | 'leased'

export interface RoundOptions extends Omit<StepOptions, 'afterRest'> {
  readonly tuning: SealingTuning
  /** How often a merge checks whether enough new events are unsealed. */
  readonly sealCheckMs: number
  readonly createDriver: (steps: StepRunner) => IndexDriver
  /** Seals fewer events than a segment has, once: see `EarlySealing`. */
  readonly isEarly?: boolean
}

/**
 * Does all the work there is for the index while it has the lease. Sealing comes first, also in the
 * middle of a merge, which can take minutes, because queries read unsealed events row by row.
 */
export async function runRound(options: RoundOptions): Promise<RoundEnd> {
  const { tuning, sealCheckMs, createDriver, isEarly = false, ...stepOptions } = options
  let isMerging = false
  let checkAt = -Infinity
  const steps = createSteps({
    ...stepOptions,
    afterRest: async () => {
      if (isMerging && performance.now() >= checkAt) await sealDuringMerge()
    },
  })
  const driver = createDriver(steps)
  const builder: Builder = { driver, steps, tuning }

  /** Repeats the work until there is no more; true if there was any. */
  const repeat = async (work: (builder: Builder) => Promise<boolean>): Promise<boolean> => {
    let count = 0
    while (await work(builder)) count += 1
    return count > 0
  }

  const seal = async (): Promise<boolean> => {
    const hasSealed = await repeat(sealNext)
    steps.setRestFactor(1)
    return hasSealed
  }

  const sealDuringMerge = async (): Promise<void> => {
    isMerging = false
    if (await driver.isSealDue(tuning.segmentSize)) await seal()
    isMerging = true
    checkAt = performance.now() + sealCheckMs
  }

  const merge = async (): Promise<boolean> => {
    isMerging = true
    const hasMerged = await notingDamage(builder, () => mergeNext(builder))
    isMerging = false
    return hasMerged
  }

  const rebuild = async (): Promise<boolean> => {
    isMerging = true
    const hasRebuilt = await repeat(rebuildNext)
    isMerging = false
    return hasRebuilt
  }

  const pack = async (): Promise<boolean> => {
    isMerging = true
    const hasPacked = await repeat(async () => (await driver.pack?.()) ?? false)
    isMerging = false
    return hasPacked
  }

  try {
    await steps.keepLease()
    const hasDroppedAbandoned = await repeat(dropAbandoned)
    const hasDroppedExpired = await repeat(dropExpired)
    let hasWorked = hasDroppedAbandoned || hasDroppedExpired
    for (let canSealEarly = isEarly; ; canSealEarly = false) {
      const hasSealed = (await seal()) || (canSealEarly && (await sealEarly(builder)))
      const hasRebuilt = await rebuild()
      const hasMerged = await merge()
      const hasPacked = await pack()
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
