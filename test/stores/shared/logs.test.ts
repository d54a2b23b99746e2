import fs from 'node:fs'
import { type AuditEvent, AuditLogs, type AuditLogsOptions, type LogStores } from 'daybook'
import { postgresLogs, postgresStore } from 'daybook/postgres'
import { sqliteLogs } from 'daybook/sqlite'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { fileNameOf, keyOfFile } from '../../../adapters/sqlite/sqlite-logs.js'
import { postgresDatabase, type TestDatabase } from '../../support/database.js'
import { EXACTLY } from '../../support/exact-counts.js'
import { tempDir } from '../../support/temp.js'

const eventually = <Result>(check: () => Result) => vi.waitFor(check, { timeout: 60_000 })

const TYPES = { note: {} } as const

const open = (stores: LogStores, options: Partial<AuditLogsOptions<typeof TYPES>> = {}) =>
  new AuditLogs({ stores, types: TYPES, ...options })

const KEYS = [
  'acme',
  'Acme',
  'acme/eu',
  'con',
  'ünï',
  '..',
  `"; drop --'`,
  'x'.repeat(55),
  '\u{1F600}',
]

describe('the logs in SQLite files', () => {
  it('have file names that no file system confuses', () => {
    const names = KEYS.map(fileNameOf)
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(KEYS.length)
    for (const [i, name] of names.entries()) {
      expect(name).toMatch(/^log-[a-z0-9_=-]+\.db$/)
      expect(keyOfFile(name)).toBe(KEYS[i])
    }
    expect(Buffer.byteLength(`${fileNameOf('\uFFFD'.repeat(18))}-journal`)).toBeLessThan(256)
    for (const other of ['log-.db', 'log-A.db', 'log-=4A.db', 'log-=61.db', 'log-a.db-wal', 'x.db'])
      expect(keyOfFile(other)).toBeUndefined()
  })

  it('are files in a folder. The next process finds them', async () => {
    const temp = tempDir()
    const directory = temp.file('logs')
    const logs = open(sqliteLogs({ directory }), { maxOpen: 3 })
    for (const [n, key] of KEYS.entries()) await logs.log(key).record('note', { n })
    await logs.close()
    fs.writeFileSync(`${directory}/other.txt`, '')
    const next = open(sqliteLogs({ directory }))
    expect(new Set(await next.keys())).toEqual(new Set(KEYS))
    expect((await next.count(undefined, EXACTLY)).total).toBe(KEYS.length)
    expect((await next.log('Acme').list()).events).toMatchObject([{ attributes: { n: 1 } }])
    expect(await next.find('none')).toBeUndefined()
    await next.close()
    expect(fs.existsSync(`${directory}/${fileNameOf('none')}`)).toBe(false)
    temp.remove()
  })

  it('are read-only if their stores are', async () => {
    const temp = tempDir()
    const logs = open(sqliteLogs({ directory: temp.dir }))
    await logs.log('acme').record('note', { n: 1 })
    await logs.close()
    const reading = open(sqliteLogs({ directory: temp.dir, readOnly: true }))
    const log = reading.log('acme')
    expect((await log.list()).events).toHaveLength(1)
    await expect(log.record('note')).rejects.toMatchObject({ code: 'READ_ONLY' })
    await reading.close()
    temp.remove()
  })

  it('record events in transactions of the host, also after they were closed', async () => {
    const temp = tempDir()
    const { default: Database } = await import('better-sqlite3')
    const logs = open(sqliteLogs({ directory: temp.dir }), { idleMs: 100 })
    const log = logs.log('acme')
    await log.record('note', { n: 1 })
    await eventually(() => expect(logs.openCount).toBe(0))
    const handle = new Database(temp.file(fileNameOf('acme')))
    let recorded: Promise<unknown> | undefined
    handle.transaction(() => {
      recorded = log.record('note', { n: 2 }, { transaction: handle })
    })()
    await recorded
    await eventually(async () =>
      expect((await log.list()).events.map(({ attributes }) => attributes['n'])).toEqual([1, 2]),
    )
    handle.close()
    await logs.close()
    temp.remove()
  })

  it.each([{ directory: '' }, { directory: 7 as never }])('refuse the options %j', (options) => {
    expect(() => sqliteLogs(options)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
  })
})

describe('the logs in Postgres schemas', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await postgresDatabase()
  })
  afterAll(() => database.remove())

  /** The processes of the server for the connections of an application. */
  const processesOf = async (application: string): Promise<readonly number[]> => {
    const { rows } = await database.pool.query<{ pid: number }>(
      'SELECT pid FROM pg_stat_activity WHERE application_name = $1',
      [application],
    )
    return rows.map(({ pid }) => pid)
  }
  const urlOf = (application: string): string => {
    const url = new URL(database.url)
    url.searchParams.set('application_name', application)
    return url.href
  }

  it(
    'share a bounded number of connections, and one of these listens',
    { timeout: 180_000 },
    async () => {
      const stores = () =>
        postgresLogs({ connectionString: urlOf('many'), maxConnections: 5, schemaPrefix: 'many_' })
      // Creating 54 logs on 5 connections takes long on a busy machine.
      const logs = open(stores(), { maxOpen: 100, waiting: { deadlineMs: 100_000 } })
      const keys = Array.from({ length: 54 }, (_, i) => `t${String(i).padStart(2, '0')}`)
      // Creating more schemas at once may take longer than the deadline of a call.
      for (let at = 0; at < keys.length; at += 4)
        await Promise.all(
          keys.slice(at, at + 4).map((key) => logs.log(key).record('note', { n: 0 })),
        )
      expect(await logs.keys()).toEqual(keys)
      expect((await logs.count(undefined, EXACTLY)).total).toBe(54)
      const tail = logs.tail()
      const found: AuditEvent[] = []
      const first = tail.next()
      await eventually(() => expect(tail.cursor).toBeDefined())
      // Each process holds the lock of its log.
      await eventually(async () => {
        const { rows } = await database.pool.query<{ sessions: number; locks: number }>(
          `SELECT count(DISTINCT pid)::int AS sessions, count(*)::int AS locks FROM pg_locks
         WHERE locktype = 'advisory' AND mode = 'ShareLock' AND granted
           AND pid IN (SELECT pid FROM pg_stat_activity WHERE application_name = 'many')`,
        )
        expect(rows).toEqual([{ sessions: 1, locks: 54 }])
      })
      expect((await processesOf('many')).length).toBeLessThanOrEqual(5)
      // Stores of another process.
      const other = open(postgresLogs({ pool: database.pool, schemaPrefix: 'many_' }))
      await Promise.all(keys.map((key) => other.log(key).record('note', { n: 1 })))
      found.push((await first).value!.event)
      while (found.length < 54) found.push((await tail.next()).value!.event)
      expect(found.every(({ attributes }) => attributes['n'] === 1)).toBe(true)
      expect((await processesOf('many')).length).toBeLessThanOrEqual(5)
      await tail.return()
      await Promise.all([logs.close(), other.close()])
      await eventually(async () => expect(await processesOf('many')).toEqual([]))

      // Closes no connection by itself.
      const pool = new pg.Pool({ connectionString: database.url, max: 1, idleTimeoutMillis: 0 })
      let closed = 0
      pool.on('remove', () => closed++)
      const one = open(postgresLogs({ pool, schemaPrefix: 'many_', readOnly: true }), {
        maxOpen: 1,
      })
      const listAll = async (some: readonly string[]): Promise<void> => {
        for (const key of some) await one.log(key).list({ limit: 1 })
      }
      await listAll(keys.slice(0, 40))
      expect(closed).toBe(0)
      // Logs that are still being closed count as open.
      for (let rounds = 0; closed === 0 && rounds < 5; rounds++) await listAll(keys)
      expect(closed).toBeGreaterThan(0)
      await one.close()
      await pool.end()
    },
  )

  it('have no functions with the same name, because Postgres reads all functions with a name to find one', async () => {
    const logs = open(postgresLogs({ pool: database.pool, schemaPrefix: 'names_' }))
    for (const key of ['a', 'b']) await logs.log(key).record('note')
    const { rows } = await database.pool.query<{ name: string; schemas: number }>(
      `SELECT proname AS name, count(*)::int AS schemas
       FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace
       WHERE starts_with(nspname::text, 'names_') GROUP BY proname`,
    )
    expect(rows).not.toEqual([])
    for (const { name, schemas } of rows) expect(schemas, name).toBe(1)
    await logs.close()
  })

  it('listen again after the connection was lost', async () => {
    const logs = open(
      postgresLogs({ connectionString: urlOf('lost'), maxConnections: 4, schemaPrefix: 'lost_' }),
    )
    for (const key of ['a', 'b']) await logs.log(key).record('note', { n: 0 })
    const tail = logs.tail()
    const first = tail.next()
    await eventually(() => expect(tail.cursor).toBeDefined())
    await database.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lost'`,
    )
    const other = open(postgresLogs({ pool: database.pool, schemaPrefix: 'lost_' }))
    for (const key of ['a', 'b']) await other.log(key).record('note', { n: 1 })
    const logsOf = [(await first).value!.log, (await tail.next()).value!.log]
    expect(logsOf.toSorted()).toEqual(['a', 'b'])
    await tail.return()
    await Promise.all([logs.close(), other.close()])
  })

  it('are logs of the same name for postgresStore, and can be on several clusters', async () => {
    const second = await postgresDatabase()
    const clusterOf = (key: string): string => (key < 'm' ? 'first' : 'second')
    const clusters = { first: { pool: database.pool }, second: { pool: second.pool } }
    const logs = open(postgresLogs({ clusters, clusterOf, schemaPrefix: 'two_' }))
    const keys = ['a', 'B', 'ünï', 'z/1', '"q"', '\u{1F600}']
    for (const key of keys) await logs.log(key).record('note')
    expect(new Set(await logs.keys())).toEqual(new Set(keys))
    const inPages: string[] = []
    for (let after: string | undefined; ;) {
      const page = await logs.keys({ after, limit: 2 })
      inPages.push(...page)
      if (page.length < 2) break
      after = page.at(-1)
    }
    expect(inPages).toEqual(await logs.keys())
    const store = postgresStore({ pool: second.pool, schema: 'two_z/1' })
    expect((await store.list({ where: undefined, sorts: [], limit: 10 })).events).toHaveLength(1)
    await store.close()
    const { rows } = await second.pool.query(`SELECT partitions FROM "two_z/1".schema_version`)
    expect(rows).toEqual([{ partitions: 'none' }])
    await logs.close()
    const wrong = open(postgresLogs({ clusters, clusterOf: () => 'third', schemaPrefix: 'two_' }))
    expect(() => wrong.log('a')).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
    await wrong.close()
    await second.remove()
  })

  it('have no statements while they are idle', async () => {
    const logs = open(postgresLogs({ connectionString: urlOf('idle'), schemaPrefix: 'idle_' }), {
      idleMs: 100,
    })
    await Promise.all(Array.from({ length: 20 }, (_, i) => logs.log(`t${i}`).record('note')))
    await eventually(() => expect(logs.openCount).toBe(0))
    const newest = async (): Promise<unknown> =>
      (
        await database.pool.query(
          `SELECT max(query_start) AS at FROM pg_stat_activity WHERE application_name = 'idle'`,
        )
      ).rows
    // The last statements of logs that are being closed may still arrive. An open log sends a statement each second.
    await eventually(async () => {
      const before = await newest()
      await new Promise((resolve) => setTimeout(resolve, 1500))
      expect(await newest()).toEqual(before)
    })
    await logs.close()
  })

  it.each([
    { schemaPrefix: 'pg_' },
    { schemaPrefix: 'a_b_' },
    { schemaPrefix: 'daybooks_' },
    { schemaPrefix: 'x' },
    { maxConnections: 2 },
  ])('refuse the options %j', (options) => {
    expect(() => postgresLogs({ pool: database.pool, ...options })).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    )
  })
})
