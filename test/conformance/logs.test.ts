import { AuditLogs, type Clock, type LogStores } from 'daybook'
import { memoryLogs } from 'daybook/memory'
import { postgresLogs } from 'daybook/postgres'
import { sqliteLogs } from 'daybook/sqlite'
import type { StoreUnderTest } from 'daybook/testing'
import { afterAll, beforeAll, inject } from 'vitest'
import { fileNameOf } from '../../adapters/sqlite/sqlite-logs.js'
import { type LogSchemas, openLogSchemas } from '../support/log-schemas.js'
import { SOAK_SECONDS } from '../support/soak.js'
import { tempDir } from '../support/temp.js'
import { describeStore } from './describe-store.js'
import { beginOnPostgres, beginOnSqlite, lockOnPostgres } from './host-transactions.js'

/*
 * The store of one of many logs. It is closed whenever it is idle. Only a sample of the cases runs, because the
 * stores have separate tests. `npm run soak -- conformance/logs` runs all cases.
 */

/** Cases that take long on any store. */
const LONG = /hostile|long|MiB|thousand|hundreds|many|large|limit|while/

/** One of `every` cases. */
const sampleOf =
  (every: number) =>
  (name: string, i: number): boolean =>
    SOAK_SECONDS > 0 || (i % every === 0 && !LONG.test(name))

const openLogs = (stores: LogStores): AuditLogs =>
  new AuditLogs({ stores, types: {}, idleMs: 100, maxOpen: 1 })

describeStore(
  'one of many logs in memory',
  ({ clock }) => {
    const logs = openLogs(memoryLogs({ clock }))
    return { store: logs.log('one').store, dispose: () => logs.close() }
  },
  sampleOf(4),
)

function underTest(
  open: () => LogStores,
  key: string,
  host: Required<Pick<StoreUnderTest, 'transaction' | 'interrupt'>>,
  remove: () => Promise<void>,
): StoreUnderTest {
  const all = [openLogs(open())]
  return {
    store: all[0]!.log(key).store,
    async reopen() {
      const other = openLogs(open())
      all.push(other)
      return other.log(key).store
    },
    ...host,
    async dispose() {
      for (const one of all) await one.close()
      await remove()
    },
  }
}

async function openFile({ clock }: { readonly clock: Clock }): Promise<StoreUnderTest> {
  const temp = tempDir()
  const key = 'acme/EU'
  const filename = temp.file(fileNameOf(key))
  const host = {
    transaction: async () => beginOnSqlite(filename),
    interrupt: async () => beginOnSqlite(filename, 'IMMEDIATE').rollback,
  }
  const open = (): LogStores => sqliteLogs({ directory: temp.dir, clock })
  return underTest(open, key, host, async () => temp.remove())
}

describeStore('one of many logs in SQLite', openFile, sampleOf(24))

const PREFIX = 'logs_'
const url = inject('postgresUrl')
let schemas: LogSchemas
beforeAll(async () => {
  schemas = await openLogSchemas(url, PREFIX)
})
afterAll(() => schemas.close())

async function openSchema({ clock }: { readonly clock: Clock }): Promise<StoreUnderTest> {
  const schema = schemas.take()
  const direct = new URL(url)
  direct.searchParams.set('application_name', schema)
  const connectionString = direct.href
  const host = {
    transaction: () => beginOnPostgres(connectionString),
    interrupt: () => lockOnPostgres(connectionString, schema),
  }
  const open = (): LogStores => postgresLogs({ connectionString, clock, schemaPrefix: PREFIX })
  const key = schema.slice(PREFIX.length)
  const tested = underTest(open, key, host, () => schemas.giveBack(schema))
  // Creates the schema.
  await tested.store.get('00000000-0000-0000-0000-000000000000')
  await schemas.noteNew(schema)
  return tested
}

describeStore('one of many logs in Postgres', openSchema, sampleOf(24))
