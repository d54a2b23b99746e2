import { afterAll, beforeAll } from 'vitest'
import { type HostileDatabase, hostileDatabase } from '../support/hostile-role.js'
import { type LogSchemas, openLogSchemas } from '../support/log-schemas.js'
import { describeStore } from './describe-store.js'
import { createPostgresStore, hasManyQueries } from './postgres-under-test.js'

/** Cases of reads, whose statements depend most on settings, after appends. The release run has all other cases. */
export const isInSuite = (name: string): boolean => /^(?:get|list|order|sort)/.test(name)

/** Runs the cases as a role with hostile settings, in a database of another locale. */
export function describeHostile(includes: (name: string) => boolean): void {
  let hostile: HostileDatabase
  let schemas: LogSchemas
  beforeAll(async () => {
    hostile = await hostileDatabase()
    schemas = await openLogSchemas(hostile.adminUrl, 'hostile ')
  })
  afterAll(async () => {
    await schemas.close()
    await hostile.remove()
  })
  describeStore(
    'postgres, as a role with other settings,',
    (options) => createPostgresStore(hostile.url, schemas, options, 'lock'),
    (name) => !hasManyQueries(name) && includes(name),
  )
}
