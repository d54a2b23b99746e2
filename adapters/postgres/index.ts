export type { PostgresClient, PostgresPool } from './connection/client.js'
export type { PostgresStoreOptions } from './log/options.js'
export { postgresStore } from './postgres-store.js'
export { postgresTable, type PostgresTableOptions } from './read/table.js'
