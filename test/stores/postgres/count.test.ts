import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, type AuditEvent, formatTimestamp, parseQuery } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { postgresStore, type PostgresStoreOptions } from 'daybook/postgres'
import { manualClock } from 'daybook/testing'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CountsQuery, EventCounts } from '../../../src/store/counts.js'
import { eventId } from '../../../src/event/event-id.js'
import { postgresDatabase, type TestDatabase } from '../../support/database.js'
import { poolThrough } from '../../support/watched-pool.js'

const START = 1_767_225_600_000_000
const HOUR = 3_600_000_000
const clock = manualClock('2026-06-01T00:00:00Z')

let database: TestDatabase

beforeAll(async () => {
  database = await postgresDatabase()
})
afterAll(() => database.remove())

/** Opens a store without a short time limit, because complete counts may take long on a busy machine. */
const openStore = (schema: string, options: Partial<PostgresStoreOptions> = {}) =>
  postgresStore({
    connectionString: database.url,
    schema,
    clock,
    queryTimeoutMs: 60_000,
    ...options,
  })

const TYPES = [
  'api:things:create',
  'error:things:create',
  'Warning:full',
  'own',
  'info:ÖWN',
] as const
const USERS = ['ann', 'Ann', '', null] as const
const VALUES = [7, '7', true, null, ['x', 'x', ['y']], { id: 'deep' }, 'ŻÓŁW', [], 1e21] as const

const eventAt = (i: number, time: number): AuditEvent => ({
  id: eventId(time, '8000000000000000'),
  created_at: formatTimestamp(time),
  source: null,
  type: TYPES[i % TYPES.length]!,
  username: USERS[(i % 7) % USERS.length]!,
  system: i % 3 === 0,
  attributes: {
    step: VALUES[i % VALUES.length],
    ...(i % 11 === 0 ? { step_id: `s${i % 50}`, rare: i % 1100 === 0 } : { text: `text ${i}` }),
  } as AuditEvent['attributes'],
})

const queryOf = (
  given: Readonly<Record<string, unknown>>,
  counts: Partial<CountsQuery> = {},
): CountsQuery => ({
  where: parseQuery({ filter: given }).where,
  visible: undefined,
  buckets: { count: 20, zone: 'Europe/Berlin' },
  facets: ['level', 'type', 'username', 'step', 'step_id'],
  top: 20,
  attributes: false,
  within: 60_000,
  ...counts,
})

const withoutTime = (counts: EventCounts): EventCounts => ({ ...counts, took_ms: 0 })

describe('a log of more events than are counted at once', () => {
  // Most events are within one minute, so that some parts have more groups than others.
  const timeOf = (i: number): number => START + (i % 3 === 0 ? i * HOUR * 0.05 : i * 1000)
  const events = Array.from({ length: 20_100 }, (_, i) => eventAt(i, timeOf(i)))
  const memory = memoryStore({ clock })
  let postgres: ReturnType<typeof postgresStore>

  beforeAll(async () => {
    postgres = openStore('large')
    for (const store of [memory, postgres])
      await new AuditLog({ store, types: {} }).importEvents(events)
  })
  afterAll(() => postgres.close())

  const queries: readonly [string, CountsQuery][] = [
    ['all', queryOf({})],
    ['a part that has its own type', queryOf({ type_eq: 'own', username_not_eq: 'ann' })],
    [
      'levels and a time',
      queryOf({ type_start_any: ['error:', 'warning:'], created_at_gt: '2026-01-02' }),
    ],
    ['own conditions on attributes', queryOf({ step_in: ['7', 'x'], step_id_not_null: '1' })],
    ['an attribute of few events', queryOf({ rare_true: '1' }, { attributes: true })],
    ['a test that columns cannot decide', queryOf({ text_cont: '99', created_at_cont: ':3' })],
    ['alternatives', queryOf({ m: 'or', type_eq: 'own', step_id_eq: 's11' })],
  ]
  it.each(queries)('has the same counts as in memory: %s', async (_, query) => {
    const counts = await postgres.count(query)
    expect(withoutTime(counts)).toEqual(withoutTime(await memory.count(query)))
    expect(counts.exact.total).toBe(true)
    expect(counts.total).toBeGreaterThan(0)
  })

  it('is a lower bound if there is no time, from the same events as in memory', async () => {
    for (const [, query] of queries) {
      const brief = { ...query, within: 0 }
      const counts = await postgres.count(brief)
      expect(withoutTime(counts)).toEqual(withoutTime(await memory.count(brief)))
      expect(counts.exact.total).toBe(false)
    }
  })
})

/** A pool whose statements `replace` may change. */
const poolWith = (replace: (text: string) => string | undefined, max = 1): pg.Pool =>
  poolThrough({ connectionString: database.url, max }, (text, send) => send(replace(text)))

const FOREVER = 'SELECT pg_sleep(600)'

const isPart = (text: string): boolean => text.includes('LATERAL')

describe('a count that the server cancels', () => {
  const events = Array.from({ length: 400 }, (_, i) => eventAt(i, START + i * HOUR))
  const memory = memoryStore({ clock })
  const query = queryOf({}, { facets: [] })

  beforeAll(async () => {
    await using postgres = new AuditLog({ store: openStore('small'), types: {} })
    const audit = new AuditLog({ store: memory, types: {} })
    for (const one of [postgres, audit]) await one.importEvents(events)
  })

  const onPool = (pool: pg.Pool, options: Partial<PostgresStoreOptions> = {}) =>
    postgresStore({ pool, schema: 'small', clock, ...options })

  /** The parts after the first one never end. */
  function endlessAfterFirstPart(): (text: string) => string | undefined {
    let parts = 0
    return (text) => (isPart(text) && ++parts > 1 ? FOREVER : undefined)
  }

  it.each([
    ['its time', { within: 500 }, { queryTimeoutMs: 600_000 }],
    ['the time limit of a query', {}, { queryTimeoutMs: 1000 }],
  ])('is a lower bound once %s is over', async (_, counts, options) => {
    const pool = poolWith(endlessAfterFirstPart())
    let removed = 0
    pool.on('remove', () => removed++)
    const store = onPool(pool, options)
    // Connects, and checks the schema, without the time limit of a query.
    await store.touchLive([])
    const counted = await store.count({ ...query, ...counts })
    expect(withoutTime(counted)).toEqual(withoutTime(await memory.count({ ...query, within: 0 })))
    expect(counted.exact.total).toBe(false)
    // The connection is usable again.
    expect(removed).toBe(0)
    const { rows } = await pool.query('SHOW statement_timeout')
    expect(rows).toEqual([{ statement_timeout: '0' }])
    await store.close()
    await pool.end()
  })

  it('is a lower bound if the limit of a part ends the statement that sets the next limit', async () => {
    const cancelled = `DO $$ BEGIN RAISE 'canceled' USING ERRCODE = 'query_canceled'; END $$`
    const isLimit = (text: string): boolean => text.includes(`set_config('statement_timeout'`)
    let limits = 0
    const pool = poolWith((text) => (isLimit(text) && ++limits > 1 ? cancelled : undefined))
    const store = onPool(pool, { queryTimeoutMs: 60_000 })
    const { total, exact } = await store.count(query)
    expect(limits).toBe(2)
    expect(exact.total).toBe(false)
    expect(total).toBeGreaterThan(0)
    await store.close()
    await pool.end()
  })

  it.each([
    ['in the first part', (text: string) => (isPart(text) ? FOREVER : undefined)],
    ['in a later part', endlessAfterFirstPart()],
  ])('ends with its signal, and leaves nothing running: %s', async (_, replace) => {
    // Another connection cancels the statement.
    const pool = poolWith(replace, 2)
    const store = onPool(pool)
    const sleeping = async (): Promise<number> => {
      const { rows } = await database.pool.query(
        `SELECT FROM pg_stat_activity
         WHERE wait_event = 'PgSleep' AND datname = current_database()`,
      )
      return rows.length
    }
    const abort = new AbortController()
    const count = store.count(query, { signal: abort.signal })
    const rejection = expect(count).rejects.toMatchObject({ code: 'ABORTED' })
    while ((await sleeping()) === 0) await delay(5)
    abort.abort()
    await rejection
    while ((await sleeping()) > 0) await delay(5)
    await store.close()
    await pool.end()
  })
})
