export type { PostgresClient } from './client.js'
export { postgresTable, type PostgresTableOptions } from './table.js'
