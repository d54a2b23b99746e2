import pg from 'pg'
import { postgresStore } from 'daybook/postgres'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createPostgresStore } from '../../../adapters/postgres/postgres-store.js'
import { postgresDatabase, type TestDatabase } from '../../support/database.js'
import { scanBytes, wordsIn } from '../../support/scan-files.js'
import { canaryLog, expectKept, expectNameAgain, plantCanaries } from '../shared/canaries.js'
import { TUNING } from '../shared/sealer.js'

/* After `scrub`, no table has a value of what was removed. */

let database: TestDatabase
const open: { close(): Promise<void> }[] = []
beforeAll(async () => {
  database = await postgresDatabase()
})
beforeEach(() => database.pool.query('DROP SCHEMA IF EXISTS daybook CASCADE'))
afterEach(() => Promise.all(open.splice(0).map((one) => one.close())))
afterAll(() => database.remove())

function openLog(partitions: 'none' | 'month', connectionString = database.url) {
  const { store, sealer } = createPostgresStore(
    { connectionString, partitions },
    { tuning: TUNING, checkMs: 20 },
  )
  const log = canaryLog(store)
  open.push(log)
  return { store, sealer, log }
}

const TABLES = `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = 'daybook'`

/** The words that any table of the schema has, or the statistics of one. */
async function scanTables(words: readonly string[]): Promise<readonly string[]> {
  const { rows } = await database.pool.query<{ name: string }>(TABLES)
  const found: string[] = []
  const scan = async (name: string, query: string): Promise<void> => {
    const texts = await database.pool.query<{ text: string }>(query)
    const all = Buffer.from(texts.rows.map(({ text }) => text).join('\n'))
    found.push(...wordsIn(scanBytes(name, all, words)))
  }
  for (const { name } of rows) await scan(name, `SELECT t::text AS text FROM ${name} AS t`)
  await scan('pg_stats', `SELECT s::text AS text FROM pg_stats AS s WHERE schemaname = 'daybook'`)
  return words.filter((word) => found.includes(word))
}

const FREE_SPACE = /until VACUUM FULL runs on the tables of the schema "daybook"\.$/
const WAL = /^The write-ahead log keeps bytes/

describe.each(['none', 'month'] as const)('scrub with partitions: %s', (partitions) => {
  it('leaves no value of removed events in the tables, and all others', async () => {
    const { store, sealer, log } = openLog(partitions)
    const canaries = await plantCanaries(log, 4)
    await sealer.settled()
    await database.pool.query('ANALYZE')
    expect(await scanTables(canaries.removed)).toEqual(canaries.removed)

    expect(await store.remove(canaries.ids)).toBe(canaries.ids.length)
    // The index, its names, throttles and statistics still have many.
    expect((await scanTables(canaries.removed)).length).toBeGreaterThan(canaries.removed.length / 2)
    const steps = new Set<string>()
    const { remaining } = await store.scrub!({ onProgress: ({ step }) => steps.add(step) })
    expect([...steps]).toEqual(['values', 'index', 'statistics'])
    expect(remaining).toEqual([expect.stringMatching(FREE_SPACE), expect.stringMatching(WAL)])
    expect(await scanTables(canaries.removed)).toEqual([])
    expect(await scanTables(canaries.kept)).toEqual(canaries.kept)
    await expectKept(log, canaries)
    await expectNameAgain(log, canaries, () => sealer.settled())
    expect(await store.verify!()).toMatchObject({ damage: [] })
  })
})

it('scrub names the tables that the role may not vacuum', async () => {
  const { log } = openLog('none')
  await log.recordCustom('own:first')
  const role = `daybook_scrub_${process.pid}`
  await database.pool.query(
    `CREATE ROLE ${role} LOGIN;
     GRANT USAGE ON SCHEMA daybook TO ${role};
     GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA daybook TO ${role};
     GRANT ALL ON ALL SEQUENCES IN SCHEMA daybook TO ${role}`,
  )
  try {
    const url = new URL(database.url)
    url.username = role
    const { store } = openLog('none', url.href)
    const { remaining } = await store.scrub!()
    expect(remaining).toContainEqual(
      expect.stringMatching(/^The role may not vacuum these tables.*: .*daybook\.events, /),
    )
    await store.close()
  } finally {
    await database.pool.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)
  }
})

it('scrub goes on if one table is locked, and says so', async () => {
  const { store, log } = openLog('none')
  await log.recordCustom('own:first')
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  try {
    await client.query('BEGIN; LOCK TABLE daybook.reporters IN SHARE UPDATE EXCLUSIVE MODE')
    const limited = new URL(database.url)
    limited.searchParams.set('options', '-c lock_timeout=200ms')
    const other = postgresStore({ connectionString: limited.href })
    open.push(other)
    const { remaining } = await other.scrub!()
    expect(remaining).toContainEqual(
      expect.stringMatching(/^VACUUM \(ANALYZE\) daybook\.reporters failed: .*lock timeout\.$/),
    )
  } finally {
    await client.end()
  }
  expect((await store.scrub!()).remaining).toHaveLength(2)
})
