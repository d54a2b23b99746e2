import type { IndexDriver } from '../maintenance/driver.js'
import type { SealingTuning } from './segment-levels.js'
import type { StepRunner } from './steps.js'

/** Parts that one round of building the index uses. */
export interface Builder {
  readonly driver: IndexDriver
  readonly steps: StepRunner
  readonly tuning: SealingTuning
}
