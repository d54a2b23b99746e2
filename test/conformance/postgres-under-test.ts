import assert from 'node:assert/strict'
import { postgresStore, type PostgresStoreOptions } from 'daybook/postgres'
import type { StoreUnderTest } from 'daybook/testing'
import type { LogSchemas } from '../support/log-schemas.js'
import { APPEND, startProxy } from '../support/proxy.js'
import type { CaseOptions } from './describe-store.js'
import { beginOnPostgres, lockOnPostgres } from './host-transactions.js'

/** Cases with thousands of queries in the same SQL; property/postgres-pushdown.test.ts has the same names and values. */
export const hasManyQueries = (name: string): boolean => /^filter: (?:hostile|long) /.test(name)

/** Texts of the statements by which the methods write to the log in this schema. */
export const writesOf = (schema: string) => ({
  append: APPEND,
  reportSuppressed: [`"${schema}".reporters`, '_report\0'],
  changeLive: `UPDATE "${schema}".live_events`,
  closeLive: `DELETE FROM "${schema}".live_events`,
})

export interface PostgresCaseOptions extends Pick<PostgresStoreOptions, 'partitions'> {
  /** The store connects through the pooler at this URL, and directly for LISTEN. */
  readonly pooler?: string
}

/**
 * Each case has a new log, see {@link LogSchemas}. In cases that break connections, the store connects through a
 * proxy.
 */
export async function createPostgresStore(
  url: string,
  schemas: LogSchemas,
  { clock, needs, partitions, pooler }: CaseOptions & PostgresCaseOptions,
  interruption: 'lock' | 'refuse',
): Promise<StoreUnderTest> {
  const schema = schemas.take()
  const direct = new URL(pooler ?? url)
  direct.searchParams.set('application_name', schema)
  const breaksConnections = needs.includes('interrupt') || needs.includes('loseAcknowledgement')
  const proxy = breaksConnections
    ? await startProxy({ host: direct.hostname, port: Number(direct.port) })
    : undefined
  const through = new URL(direct)
  if (proxy) through.port = String(proxy.port)
  const open = (connectionString: string) =>
    postgresStore({
      clock,
      ...(partitions && { partitions }),
      ...(pooler !== undefined && { listenConnectionString: url }),
      connectionString,
      schema,
    })
  const store = open(through.href)
  // Creates the schema, which `interrupt` locks.
  await store.get('00000000-0000-0000-0000-000000000000')
  await schemas.noteNew(schema)
  return {
    store,
    reopen: async () => open(direct.href),
    transaction: () => beginOnPostgres(direct.href),
    async interrupt() {
      if (interruption === 'refuse') {
        proxy!.refuse()
        return async () => proxy!.heal()
      }
      return lockOnPostgres(direct.href, schema)
    },
    async loseAcknowledgement(method) {
      proxy!.loseAnswerTo(writesOf(schema)[method])
    },
    async dispose() {
      // The transaction of a broken connection may end at any time.
      // Connections of a pooler outlive the case.
      await (proxy || pooler !== undefined ? schemas.drop(schema) : schemas.giveBack(schema))
      await proxy?.close()
      // Otherwise the case would prove nothing.
      assert.equal(proxy?.unheard(), undefined)
    },
  }
}
