import { afterAll, beforeAll, inject } from 'vitest'
import { describeStore } from './describe-store.js'
import { type LogSchemas, openLogSchemas } from '../support/log-schemas.js'
import { createPostgresStore, hasManyQueries } from './postgres-under-test.js'

const url = inject('postgresUrl')
let schemas: LogSchemas
beforeAll(async () => {
  schemas = await openLogSchemas(url, 'release ')
})
afterAll(() => schemas.close())
describeStore(
  'postgres',
  (options) => createPostgresStore(url, schemas, options, 'lock'),
  hasManyQueries,
)
