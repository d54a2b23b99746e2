import assert from 'node:assert/strict'
import Database from 'better-sqlite3'
import { memoryStore } from 'daybook/memory'
import { postgresStore, type PostgresStoreOptions } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'
import { type CreateStore, storeConformance, type StoreUnderTest } from 'daybook/testing'
import pg from 'pg'
import { afterAll, describe, expect, inject, it } from 'vitest'
import { hasOldestPostgres, startOwnPostgres } from '../support/postgres.js'
import { startProxy } from '../support/proxy.js'
import { tempDir } from '../support/temp.js'

const stores: Record<string, CreateStore> = {
  memory: ({ clock }) => ({ store: memoryStore({ clock }) }),

  sqlite: ({ clock }) => {
    const temp = tempDir()
    const filename = temp.file('audit.db')
    const open = () => sqliteStore({ filename, clock })
    const begin = (kind: string) => {
      const handle = new Database(filename)
      handle.exec(`BEGIN ${kind}`)
      const end = async (command: string) => {
        handle.exec(command)
        handle.close()
      }
      return { handle, commit: () => end('COMMIT'), rollback: () => end('ROLLBACK') }
    }
    return {
      store: open(),
      reopen: async () => open(),
      transaction: async () => begin('DEFERRED'),
      // The file has one lock for writing.
      interrupt: async () => begin('IMMEDIATE').rollback,
      dispose: async () => temp.remove(),
    }
  },
}

let schemas = 0

/** A log of its own for each case, in one database. The store reaches it through a proxy. */
async function createPostgresStore(
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
  // Cases that interrupt need what they interrupt.
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
      // Else the case would prove nothing.
      assert.equal(proxy.unheard(), undefined)
    },
  }
}

stores['postgres'] = ({ clock }) => createPostgresStore(inject('postgresUrl'), { clock }, 'lock')

if (hasOldestPostgres()) {
  const server = startOwnPostgres([], 'oldest')
  stores['oldest postgres, without partitions,'] = async ({ clock }) =>
    createPostgresStore((await server).url, { clock, partitions: 'none' }, 'refuse')
  afterAll(async () => (await server).stop())
} else it.skip('the oldest Postgres: npm has none for this platform')

for (const [name, createStore] of Object.entries(stores)) {
  describe(`${name} store`, () => {
    for (const { name: title, run } of storeConformance(createStore)) {
      it(title, { timeout: 60_000 }, async ({ skip }) => {
        const reason = await run()
        if (reason !== undefined) skip(reason)
      })
    }
  })
}

it('a large import fits into the memory store', async () => {
  const store = memoryStore()
  const events = Array.from({ length: 150_000 }, (_, i) => ({
    event: {
      id: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
      created_at: '',
      username: null,
      system: true,
      type: 'x',
      source: null,
      attributes: {},
    },
    time: 1_700_000_000_000_000 + i,
    json: '{}',
  }))
  expect(await store.importEvents(events)).toEqual({ imported: 150_000, skipped: 0 })
})
