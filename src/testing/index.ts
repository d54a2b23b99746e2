export type {
  Ability,
  CreateStore,
  HostTransaction,
  LosingMethod,
  StoreAbilities,
  StoreUnderTest,
} from './conformance/context.js'
export { type FaultyMethod, type FaultyStore, faultyStore } from './faulty-store.js'
export { manualClock, type ManualClock } from './conformance/manual-clock.js'
export { type ConformanceCase, storeConformance } from './store-conformance.js'
