export { manualClock, type ManualClock } from './manual-clock.js'
export {
  type ConformanceCase,
  type CreateStore,
  storeConformance,
  type StoreUnderTest,
} from './store-conformance.js'
