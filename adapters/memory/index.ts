export { memoryStore, type MemoryStoreOptions } from './memory-store.js'
