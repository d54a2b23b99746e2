import { DuckDBInstance } from '@duckdb/node-api'

/** Runs the queries in a new database of DuckDB in memory, and returns the rows of each. */
export async function queryDuckDb(
  ...queries: readonly string[]
): Promise<readonly (readonly Readonly<Record<string, unknown>>[])[]> {
  const database = await DuckDBInstance.create(':memory:')
  const connection = await database.connect()
  try {
    const results = []
    for (const query of queries) {
      const reader = await connection.runAndReadAll(query)
      results.push(reader.getRowObjectsJson())
    }
    return results
  } finally {
    connection.closeSync()
    database.closeSync()
  }
}
