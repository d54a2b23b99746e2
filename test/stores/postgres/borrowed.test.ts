import { AuditLog, parseQuery, type AuditEvent } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { EXACTLY } from '../../support/exact-counts.js'
import { oldEvent } from '../../support/imported-event.js'
import { postgresDatabase, type TestDatabase } from '../../support/database.js'

/*
 * Pools of the host. Their connections have a state from earlier use, from their role or from their options. The
 * store must notice this, and every answer must be right.
 */

let database: TestDatabase
let truth: AuditLog
beforeAll(async () => {
  database = await postgresDatabase()
  truth = new AuditLog({ store: postgresStore({ connectionString: database.url }), types: {} })
  await truth.list()
  await database.pool.query(`
    CREATE TABLE jobs (id int);
    CREATE FUNCTION public.concat_ws(text, VARIADIC text[]) RETURNS text LANGUAGE sql AS $$ SELECT 'hostile' $$;
    CREATE FUNCTION public.to_json(bigint[]) RETURNS json LANGUAGE sql AS $$ SELECT '"hostile"'::json $$;
    CREATE FUNCTION public.set_config(text, text, boolean) RETURNS text LANGUAGE sql AS $$ SELECT 'hostile' $$;
    CREATE FUNCTION public.hostile(bigint, bigint) RETURNS boolean LANGUAGE sql AS $$ SELECT false $$;
    CREATE OPERATOR public.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = public.hostile)`)
})
afterAll(async () => {
  expect((await truth.verify()).damage).toEqual([])
  await truth.close()
  await database.remove()
})

const opened: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.close()
})

function openLog(pool: pg.Pool, deadlineMs = 20_000): AuditLog {
  pool.on('error', () => {})
  opened.push({ close: () => pool.end() })
  const audit = new AuditLog({
    store: postgresStore({ pool }),
    types: { 'api:test:live': {} },
    waiting: { deadlineMs },
  })
  opened.push(audit)
  return audit
}

/** Statements that the host runs before it returns its connections. */
const LEFT: Readonly<Record<string, string>> = {
  'an open transaction': 'BEGIN; INSERT INTO jobs VALUES (1)',
  'an open transaction that has done nothing': 'BEGIN',
  'an open transaction with an old snapshot':
    'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class',
  'an open transaction that only reads': 'BEGIN READ ONLY; SELECT 1',
  'a failed transaction': 'BEGIN; SELECT 1/0',
  'another role': 'SET ROLE pg_monitor',
  'another session authorization': 'SET SESSION AUTHORIZATION pg_monitor',
  'a time limit': `SET statement_timeout = '1ms'`,
  'a read-only session': 'SET default_transaction_read_only = on',
}

/** Statements that the host may run in every session. */
const SETTINGS: Readonly<Record<string, string>> = {
  'client_encoding LATIN1': `SET client_encoding = 'LATIN1'`,
  'client_encoding SQL_ASCII': `SET client_encoding = 'SQL_ASCII'`,
  'client_encoding SJIS': `SET client_encoding = 'SJIS'`,
  'client_min_messages error': 'SET client_min_messages = error',
  'no search_path': `SELECT pg_catalog.set_config('search_path', '', false)`,
  'the empty schema in search_path': `SET search_path = ''`,
  'pg_temp first in search_path': 'SET search_path = pg_temp, public',
  'pg_catalog last in search_path': 'SET search_path = public, pg_catalog',
  'temporary tables like those of the system':
    'CREATE TEMP TABLE pg_class (n int); CREATE TEMP TABLE pg_settings (n int); CREATE TEMP TABLE pg_namespace (n int)',
  'temporary tables like types':
    'CREATE TEMP TABLE text (n int); CREATE TEMP TABLE json (n int); CREATE TEMP TABLE uuid (n int); CREATE TEMP TABLE int8 (n int)',
  'the isolation level serializable':
    'SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE',
  'the isolation level repeatable read': `SET default_transaction_isolation = 'repeatable read'`,
  'short time limits for locks and idle transactions': `SET lock_timeout = '1ms'; SET idle_in_transaction_session_timeout = '20ms'`,
  'escaped bytes': 'SET bytea_output = escape',
  'other formats': `SET DateStyle = 'German, DMY'; SET IntervalStyle = 'sql_standard'; SET TimeZone = 'Pacific/Chatham'; SET extra_float_digits = -15; SET quote_all_identifiers = on; SET xmloption = document`,
  'other literals':
    'SET standard_conforming_strings = off; SET backslash_quote = on; SET array_nulls = off; SET transform_null_equals = on',
  'other plans': `SET plan_cache_mode = force_generic_plan; SET work_mem = '64kB'; SET enable_indexscan = off; SET enable_hashjoin = off; SET jit = on; SET jit_above_cost = 0`,
  'triggers that do not fire': 'SET session_replication_role = replica',
  'no row security': 'SET row_security = off',
  'commits that do not wait': 'SET synchronous_commit = off',
  'a prepared statement': 'PREPARE daybook_append AS SELECT 1',
  'a subscription': 'LISTEN somewhere',
}

/** A time before all events, except the imported events. */
const START = '2026-01-01T00:00:00.000000Z'

const TEXT = `Şşİıß 漢字 \\ ' " \n {} 🙂`

/** Records, imports, changes and reads, and returns the answers. */
async function useLog(audit: AuditLog, mark: string) {
  const hasMark = `filter[mark_eq]=${mark}`
  const controller = new AbortController()
  const followed: AuditEvent[] = []
  const following = (async () => {
    const tail = audit.tail(hasMark, { signal: controller.signal, after: START })
    for await (const event of tail) {
      followed.push(event)
      if (event.type === 'test:last') return
    }
  })()
  following.catch(() => {})
  const first = await audit.recordCustom('test:text', { mark, text: TEXT, none: null })
  await Promise.all([1, 2, 3].map((n) => audit.recordCustom('test:many', { mark, n, bytes: TEXT })))
  const live = await audit.recordLive('api:test:live', { mark })
  await live.update({ mark, text: TEXT })
  await live.append('text', TEXT)
  await live.close()
  const { event } = oldEvent()
  await audit.importEvents([{ ...event, attributes: { mark, text: TEXT } }])
  await audit.recordCustom('test:last', { mark })
  await following
  controller.abort()
  const { events } = await audit.list(`${hasMark}&limit=50`)
  const { total } = await audit.count(hasMark, EXACTLY)
  const found = await audit.get(first!.id)
  return { events, total, found, first, followed }
}

async function check(audit: AuditLog, mark: string): Promise<void> {
  const { events, total, found, first, followed } = await useLog(audit, mark)
  const real = (await truth.list(`filter[mark_eq]=${mark}&limit=50`)).events
  expect(events).toEqual(real)
  expect(total).toBe(7)
  expect(real).toHaveLength(7)
  expect(found).toEqual(first)
  expect(first!.attributes).toMatchObject({ text: TEXT, none: null })
  expect(followed.map(({ type }) => type)).toContain('test:text')
}

let marks = 0
const nextMark = (): string => `m${marks++}`

/** Runs the statements in both sessions of the pool. One of the sessions listens later. */
async function leave(pool: pg.Pool, statements: string): Promise<void> {
  const clients = [await pool.connect(), await pool.connect()]
  for (const client of clients) {
    for (const statement of statements.split('; ')) await client.query(statement).catch(() => {})
    client.release()
  }
}

describe('a host has left in its sessions', () => {
  it.each(Object.entries({ ...LEFT, ...SETTINGS }))('%s', async (_, statements) => {
    const pool = new pg.Pool({ connectionString: database.url, max: 2 })
    const audit = openLog(pool)
    await audit.list()
    await leave(pool, statements)
    await check(audit, nextMark())
    // Leaves the same state in sessions that the store has used.
    await leave(pool, statements)
    const mark = nextMark()
    await audit.recordCustom('test:again', { mark, text: TEXT })
    const { events } = await audit.list(`filter[mark_eq]=${mark}`)
    expect(events).toEqual((await truth.list(`filter[mark_eq]=${mark}`)).events)
    expect(events).toHaveLength(1)
    expect((await database.pool.query('SELECT FROM jobs')).rowCount).toBe(0)
  })

  it('a statement that the host does not await and that begins a transaction', async () => {
    const pool = new pg.Pool({ connectionString: database.url, max: 2 })
    const audit = openLog(pool)
    for (const read of [false, true]) {
      const mark = nextMark()
      const clients = [await pool.connect(), await pool.connect()]
      for (const client of clients) {
        void client.query('BEGIN').catch(() => {})
        void client.query('INSERT INTO jobs VALUES (1)').catch(() => {})
        client.release()
      }
      if (read) await audit.list()
      await audit.recordCustom('test:queued', { mark })
      expect((await truth.count(`filter[mark_eq]=${mark}`, EXACTLY)).total).toBe(1)
      expect((await database.pool.query('SELECT FROM jobs')).rowCount).toBe(0)
    }
  })
})

describe('every session of a host has', () => {
  const names = Object.keys(SETTINGS).filter((name) =>
    /LATIN1|no search|last|serial|literals|short/.test(name),
  )
  it.each(names)('%s', async (name) => {
    const pool = new pg.Pool({ connectionString: database.url, max: 3 })
    pool.on('connect', (client) => void client.query(SETTINGS[name]!).catch(() => {}))
    await check(openLog(pool), nextMark())
  })
})

describe('a pool with the options', () => {
  it.each<[string, object]>([
    ['binary', { binary: true }],
    ['binary and pipeline', { binary: true, pipeline: true }],
    ['query_timeout', { query_timeout: 1 }],
    ['statement_timeout', { statement_timeout: 1 }],
    ['lock_timeout', { lock_timeout: 1 }],
    ['idle_in_transaction_session_timeout', { idle_in_transaction_session_timeout: 20 }],
    ['types', { types: { getTypeParser: () => () => 'hostile' } }],
    ['transaction_timeout', { options: '-c transaction_timeout=20' }],
    [
      'pipeline and isolation',
      { pipeline: true, options: '-c default_transaction_isolation=serializable' },
    ],
  ])('%s', async (_, options) => {
    await check(
      openLog(new pg.Pool({ connectionString: database.url, max: 3, ...options })),
      nextMark(),
    )
  })
})

it('type parsers that the host has set change nothing', async () => {
  const { parseInputDatesAsUTC } = pg.defaults
  const before = [16, 20, 25, 114].map((oid) => [oid, pg.types.getTypeParser(oid)] as const)
  for (const [oid] of before) pg.types.setTypeParser(oid, () => 'hostile')
  pg.defaults.parseInputDatesAsUTC = true
  try {
    await check(openLog(new pg.Pool({ connectionString: database.url, max: 3 })), nextMark())
  } finally {
    for (const [oid, parse] of before) pg.types.setTypeParser(oid, parse as () => unknown)
    pg.defaults.parseInputDatesAsUTC = parseInputDatesAsUTC
  }
})

it('a role without rights, which every session has set, is named', async () => {
  const pool = new pg.Pool({ connectionString: database.url, max: 2 })
  // The pool may end while a connection still waits for the answer.
  pool.on('connect', (client) => void client.query('SET ROLE pg_monitor').catch(() => {}))
  const audit = openLog(pool, 300)
  await expect(audit.recordCustom('test:role')).rejects.toMatchObject({
    message: expect.stringMatching(/has the role pg_monitor: RESET ROLE/),
  })
})

it('a pool of pg.native is refused', async () => {
  class Native extends pg.Client {
    readonly native = {}
  }
  const pool = new pg.Pool({ connectionString: database.url, Client: Native })
  const audit = openLog(pool)
  await expect(audit.recordCustom('test:native')).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  await expect(audit.list()).rejects.toThrow(/JavaScript client/)
})

it('the settings of the host stay as they are', async () => {
  const pool = new pg.Pool({ connectionString: database.url, max: 1 })
  const store = postgresStore({ pool })
  opened.push({ close: () => pool.end() }, store)
  const all = async () =>
    (
      await pool.query(
        `SELECT name, setting FROM pg_settings WHERE name NOT LIKE 'plpgsql.%' ORDER BY name`,
      )
    ).rows
  await pool.query(`SET search_path = ''; SET client_encoding = 'LATIN1'; SET lock_timeout = '7s'`)
  const before = await all()
  await store.list(parseQuery())
  await store.importEvents([oldEvent()])
  expect(await all()).toEqual(before)
})
