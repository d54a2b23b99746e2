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
export { postgresStore } from './postgres-store.js'
export { postgresTable, type PostgresTableOptions } from './read/table.js'
