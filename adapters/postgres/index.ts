export type { CaptureOptions, CaptureResult, CapturedTable } from '../../src/store-kit/capture.js'
export {
  captureAs,
  captureChanges,
  type PostgresCaptureOptions,
  type PostgresRemoveCaptureOptions,
  removeCapture,
} from './capture.js'
export type { PostgresClient, PostgresPool } from './connection/client.js'
export type { PostgresStoreOptions } from './log/options.js'
export type { Checkup } from '../../src/store/checkup.js'
export { postgresCheckups } from './checkups.js'
export type { PendingMigrations } from '../../src/store/migrations.js'
export { postgresMigrations } from './pending-migrations.js'
export { postgresLogs, type PostgresLogsOptions } from './postgres-logs.js'
export { postgresStore } from './postgres-store.js'
export { postgresTable, type PostgresTableOptions } from './read/table.js'
export { postgresSubjectKeys, type PostgresSubjectKeysOptions } from './subject-keys.js'
