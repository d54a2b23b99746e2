export type { CaptureOptions, CaptureResult, CapturedTable } from '../../src/store-kit/capture.js'
export {
  captureAs,
  captureChanges,
  removeCapture,
  type SqliteCaptureOptions,
  type SqliteRemoveCaptureOptions,
} from './capture.js'
export type { SqliteDatabase } from './connection/database.js'
export type { SqliteDriverName } from './connection/driver.js'
export type { NodeSqliteDatabase } from './connection/node-sqlite.js'
export { sqliteJournal, type SqliteJournalOptions } from './journal.js'
export type { Checkup } from '../../src/store/checkup.js'
export { sqliteCheckups } from './checkups.js'
export type { PendingMigrations } from '../../src/store/migrations.js'
export { sqliteMigrations } from './pending-migrations.js'
export { sqliteLogs, type SqliteLogsOptions } from './sqlite-logs.js'
export { sqliteStore, type SqliteStoreOptions } from './sqlite-store.js'
export { sqliteTable, type SqliteTableOptions } from './read/table.js'
export { sqliteSubjectKeys, type SqliteSubjectKeysOptions } from './subject-keys.js'
