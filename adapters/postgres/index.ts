export type { PostgresClient, PostgresPool } from './client.js'
export { postgresStore, type PostgresStoreOptions } from './postgres-store.js'
export { postgresTable, type PostgresTableOptions } from './table.js'
