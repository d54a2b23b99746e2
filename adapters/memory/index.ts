export { memoryLogs } from './memory-logs.js'
export { memoryStore, type MemoryStoreOptions } from './memory-store.js'
export { memorySubjectKeys, type MemorySubjectKeysOptions } from './subject-keys.js'
