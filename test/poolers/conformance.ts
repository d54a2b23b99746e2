import { afterAll, beforeAll } from 'vitest'
import { describeStore } from '../conformance/describe-store.js'
import { createPostgresStore } from '../conformance/postgres-under-test.js'
import { type LogSchemas, openLogSchemas } from '../support/log-schemas.js'
import { type PgBouncer, type PoolMode, startPgBouncer } from '../support/pgbouncer.js'
import { type PostgresServer, startOwnPostgres } from '../support/postgres.js'

/** Runs the conformance kit on a store whose connections go through PgBouncer. */
export function describePooledStore(mode: PoolMode): void {
  let server: PostgresServer
  let bouncer: PgBouncer
  let schemas: LogSchemas

  beforeAll(async () => {
    server = await startOwnPostgres()
    bouncer = await startPgBouncer(server.url, mode)
    schemas = await openLogSchemas(server.url, 'conformance ')
  })
  afterAll(async () => {
    await schemas.close()
    await bouncer.stop()
    await server.stop()
  })

  describeStore(`postgres, through PgBouncer in ${mode} mode,`, (options) =>
    createPostgresStore(server.url, schemas, { ...options, pooler: bouncer.url }, 'lock'),
  )
}
