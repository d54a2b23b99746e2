export type { SqliteDatabase } from './connection/database.js'
export { sqliteJournal, type SqliteJournalOptions } from './journal.js'
export { sqliteStore, type SqliteStoreOptions } from './sqlite-store.js'
export { sqliteTable, type SqliteTableOptions } from './read/table.js'
