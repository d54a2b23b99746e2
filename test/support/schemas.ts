import type { EventStore } from 'daybook'
import { postgresStore, type PostgresStoreOptions } from 'daybook/postgres'
import type pg from 'pg'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { postgresDatabase, type TestDatabase } from './database.js'

/** Gives the tests of a file one database, and each test a schema. */
export interface Schemas {
  database(): TestDatabase
  schema(): string
  /** The rows of a query. `%` before the name of a table is replaced by the schema. */
  query<Row extends pg.QueryResultRow>(sql: string, values?: unknown[]): Promise<Row[]>
  openStore(options?: Partial<PostgresStoreOptions>): EventStore
}

export function useSchemas(prefix: string): Schemas {
  let database: TestDatabase
  let count = 0
  let schema = ''
  beforeAll(async () => {
    database = await postgresDatabase()
  })
  afterAll(() => database.remove())
  beforeEach(() => {
    schema = `${prefix}_${count++}`
  })
  return {
    database: () => database,
    schema: () => schema,
    query: async <Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []) =>
      (await database.pool.query<Row>(sql.replaceAll('%', `"${schema}".`), values)).rows,
    openStore: (options = {}) =>
      postgresStore({ connectionString: database.url, schema, ...options }),
  }
}
