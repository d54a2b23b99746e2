import type { IndexDriver } from './index-driver.js'
import type { SealingTuning } from './segment-levels.js'
import type { Steps } from './steps.js'

/** What building the index works with, in one round. */
export interface Builder {
  readonly driver: IndexDriver
  readonly steps: Steps
  readonly tuning: SealingTuning
}
