export type { SqliteDatabase } from './database.js'
export { sqliteStore, type SqliteStoreOptions } from './sqlite-store.js'
