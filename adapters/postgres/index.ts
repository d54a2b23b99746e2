export type { PostgresClient, PostgresPool } from './client.js'
export type { PostgresStoreOptions } from './options.js'
export { postgresStore } from './postgres-store.js'
export { postgresTable, type PostgresTableOptions } from './table.js'
