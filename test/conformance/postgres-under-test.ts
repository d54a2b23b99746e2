import assert from 'node:assert/strict'
import { postgresStore, type PostgresStoreOptions } from 'daybook/postgres'
import type { StoreUnderTest } from 'daybook/testing'
import pg from 'pg'
import { startProxy } from '../support/proxy.js'

let schemas = 0

/** Each case has its own schema in one database. The store connects through a proxy. */
export async function createPostgresStore(
  url: string,
  options: Pick<PostgresStoreOptions, 'clock' | 'partitions'>,
  interruption: 'lock' | 'refuse',
): Promise<StoreUnderTest> {
  const schema = `conformance ${schemas++}`
  const direct = new URL(url)
  const proxy = await startProxy({ host: direct.hostname, port: Number(direct.port) })
  const through = new URL(url)
  through.port = String(proxy.port)
  const open = (connectionString: string) => postgresStore({ ...options, connectionString, schema })
  const begin = async () => {
    const handle = new pg.Client({ connectionString: url })
    await handle.connect()
    await handle.query('BEGIN')
    const end = async (command: string) => {
      await handle.query(command)
      await handle.end()
    }
    return { handle, commit: () => end('COMMIT'), rollback: () => end('ROLLBACK') }
  }
  const store = open(through.href)
  // Creates the schema, which `interrupt` locks.
  await store.get('00000000-0000-0000-0000-000000000000')
  return {
    store,
    reopen: async () => open(url),
    transaction: begin,
    async interrupt() {
      if (interruption === 'refuse') {
        proxy.refuse()
        return async () => proxy.heal()
      }
      const { handle, rollback } = await begin()
      handle.on('error', () => {})
      await handle.query(`LOCK TABLE "${schema}".events IN SHARE ROW EXCLUSIVE MODE`)
      return rollback
    },
    loseAcknowledgement: async (method) =>
      proxy.loseAnswerTo(
        {
          append: `"${schema}".append(`,
          reportSuppressed: `"${schema}".reporters`,
          changeLive: `UPDATE "${schema}".live_events`,
          closeLive: `DELETE FROM "${schema}".live_events`,
        }[method],
      ),
    async dispose() {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      await client.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
      await client.end()
      await proxy.close()
      // Otherwise the case would prove nothing.
      assert.equal(proxy.unheard(), undefined)
    },
  }
}
