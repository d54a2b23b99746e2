import type { StepRunner } from '../../src/store-kit/index-builder/steps.js'

/** Steps that run at once and never rest. */
export const IMMEDIATE_STEPS: StepRunner = {
  run: (transact) => transact(),
  start: (transact) => transact(),
  isSliceOver: () => false,
  pause: async () => {},
  setRestFactor: () => {},
}
