import { AuditLogs, type Clock, type LogStores } from 'daybook'
import { memoryLogs } from 'daybook/memory'
import { postgresLogs } from 'daybook/postgres'
import { sqliteLogs } from 'daybook/sqlite'
import type { StoreUnderTest } from 'daybook/testing'
import Database from 'better-sqlite3'
import pg from 'pg'
import { afterAll, beforeAll, inject } from 'vitest'
import { fileNameOf } from '../../adapters/sqlite/sqlite-logs.js'
import { type LogSchemas, openLogSchemas } from '../support/log-schemas.js'
import { SOAK_SECONDS } from '../support/soak.js'
import { tempDir } from '../support/temp.js'
import { describeStore } from './describe-store.js'

/*
 * The store of one of many logs, which is closed whenever it is idle. In SQLite and Postgres only a sample of the cases runs, as
 * the stores themselves have their own tests; `npm run soak -- conformance/logs` runs all of them.
 */

const SAMPLE = 24
/** Cases that take long on any store. */
const LONG = /hostile|long|MiB|thousand|hundreds|many|large|limit|while/

const inSample = (name: string, i: number): boolean =>
  SOAK_SECONDS > 0 || (i % SAMPLE === 0 && !LONG.test(name))

const openLogs = (stores: LogStores): AuditLogs =>
  new AuditLogs({ stores, types: {}, idleMs: 100, maxOpen: 1 })

describeStore('one of many logs in memory', ({ clock }) => {
  const logs = openLogs(memoryLogs({ clock }))
  return { store: logs.log('one').store, dispose: () => logs.close() }
})

/** Transactions of the host, each on a connection of its own. */
interface HostTransactions {
  readonly begin: () => Promise<{ handle: object; end: (command: string) => Promise<void> }>
  /** Makes writes wait until the transaction ends. */
  readonly lock: (handle: object) => Promise<unknown>
}

function underTest(
  open: () => LogStores,
  key: string,
  { begin, lock }: HostTransactions,
  remove: () => Promise<void>,
): StoreUnderTest {
  const logs = openLogs(open())
  const others: AuditLogs[] = []
  const transaction = async () => {
    const { handle, end } = await begin()
    return { handle, commit: () => end('COMMIT'), rollback: () => end('ROLLBACK') }
  }
  return {
    store: logs.log(key).store,
    async reopen() {
      const other = openLogs(open())
      others.push(other)
      return other.log(key).store
    },
    transaction,
    async interrupt() {
      const { handle, rollback } = await transaction()
      await lock(handle)
      return rollback
    },
    async dispose() {
      for (const one of [logs, ...others]) await one.close()
      await remove()
    },
  }
}

async function openFile({ clock }: { readonly clock: Clock }): Promise<StoreUnderTest> {
  const temp = tempDir()
  const key = 'acme/EU'
  const begin = async () => {
    const handle = new Database(temp.file(fileNameOf(key)))
    handle.exec('BEGIN')
    const end = async (command: string) => {
      handle.exec(command)
      handle.close()
    }
    return { handle, end }
  }
  const lock = async (handle: object): Promise<void> => {
    // A transaction that has written has the only lock for writing.
    ;(handle as Database.Database).exec('PRAGMA user_version = 1; PRAGMA user_version = 0')
  }
  const open = (): LogStores => sqliteLogs({ directory: temp.dir, clock })
  return underTest(open, key, { begin, lock }, async () => temp.remove())
}

describeStore('one of many logs in SQLite', openFile, inSample)

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
  const begin = async () => {
    const handle = new pg.Client({ connectionString: direct.href })
    handle.on('error', () => {})
    await handle.connect()
    await handle.query('BEGIN')
    const end = async (command: string) => {
      await handle.query(command)
      await handle.end()
    }
    return { handle, end }
  }
  const lock = (handle: object) =>
    (handle as pg.Client).query(`LOCK TABLE "${schema}".events IN SHARE ROW EXCLUSIVE MODE`)
  const open = (): LogStores =>
    postgresLogs({ connectionString: direct.href, clock, schemaPrefix: PREFIX })
  const key = schema.slice(PREFIX.length)
  const tested = underTest(open, key, { begin, lock }, () => schemas.giveBack(schema))
  // Creates the schema.
  await tested.store.get('00000000-0000-0000-0000-000000000000')
  await schemas.noteNew(schema)
  return tested
}

describeStore('one of many logs in Postgres', openSchema, inSample)
