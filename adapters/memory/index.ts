export { memoryLogs } from './memory-logs.js'
export { memoryStore, type MemoryStoreOptions } from './memory-store.js'
