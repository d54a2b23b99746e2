export type { SqliteDatabase } from './database.js'
export { sqliteStore, type SqliteStoreOptions } from './sqlite-store.js'
export { sqliteTable, type SqliteTableOptions } from './table.js'
