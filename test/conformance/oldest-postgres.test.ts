import { afterAll, it } from 'vitest'
import { hasOldestPostgres, startOwnPostgres } from '../support/postgres.js'
import { describeStore } from './describe-store.js'
import { createPostgresStore } from './postgres-under-test.js'

if (hasOldestPostgres()) {
  const server = startOwnPostgres([], 'oldest')
  describeStore(
    'oldest postgres, without partitions,',
    async ({ clock }) =>
      createPostgresStore((await server).url, { clock, partitions: 'none' }, 'refuse'),
    // Thousands of queries in the same SQL as on the newest server.
    /^filter: (?:hostile|long) /,
  )
  afterAll(async () => (await server).stop())
} else it.skip('the oldest Postgres: npm has no build for this platform')
