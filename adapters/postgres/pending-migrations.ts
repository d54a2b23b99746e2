import type { PendingMigrations } from '../../src/store/migrations.js'
import { withConnection } from './connection/connection.js'
import { checkStoreOptions, type PostgresStoreOptions, readOptions } from './log/options.js'
import { POSTGRES } from './schema/engine.js'
import { namesIn } from './schema/names.js'
import { readMigrations } from './schema/schema.js'

/**
 * The migrations that the first call of `postgresStore` with these options would run. Reads only. Rejects with
 * `STORE_FAILED`, and throws what `postgresStore` throws.
 */
export async function postgresMigrations(
  options: PostgresStoreOptions,
): Promise<PendingMigrations> {
  checkStoreOptions(options)
  const { pool, end, partitions } = readOptions(options)
  const names = namesIn(options.schema ?? 'daybook')
  try {
    return await withConnection(pool, new AbortController().signal, (client) =>
      readMigrations(client, names, partitions, POSTGRES),
    )
  } finally {
    await end()
  }
}
