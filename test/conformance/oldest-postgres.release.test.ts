import { afterAll, beforeAll, it } from 'vitest'
import { hasOldestPostgres, type PostgresServer, startOwnPostgres } from '../support/postgres.js'
import { describeStore } from './describe-store.js'
import { type LogSchemas, openLogSchemas } from '../support/log-schemas.js'
import { createPostgresStore, hasManyQueries } from './postgres-under-test.js'

if (hasOldestPostgres()) {
  let server: PostgresServer
  let schemas: LogSchemas
  beforeAll(async () => {
    server = await startOwnPostgres([], 'oldest')
    schemas = await openLogSchemas(server.url, 'conformance ')
  })
  afterAll(async () => {
    await schemas.close()
    await server.stop()
  })
  describeStore(
    'oldest postgres, without partitions,',
    (options) =>
      createPostgresStore(server.url, schemas, { ...options, partitions: 'none' }, 'refuse'),
    (name) => !hasManyQueries(name),
  )
} else it.skip('the oldest Postgres: npm has no build for this platform')
