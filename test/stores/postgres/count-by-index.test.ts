import {
  AuditLog,
  type AuditEvent,
  type CountOptions,
  type EventCounts,
  formatTimestamp,
  parseTimestamp,
} from 'daybook'
import { memoryStore } from 'daybook/memory'
import { manualClock } from 'daybook/testing'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { countsQuery } from '../../../src/counting/count-options.js'
import { MAX_REMOVED } from '../../../adapters/postgres/index/sealed-state.js'
import { createPostgresStore } from '../../../adapters/postgres/postgres-store.js'
import { postgresDatabase, type TestDatabase } from '../../support/database.js'
import { sealPostgres } from '../../support/seal-postgres.js'

const SIZE = 1000
const FIRST = parseTimestamp('2026-01-01')!
const MINUTE = 60_000_000
const TUNING = { segmentSize: 128, fanOut: 4 }
const SCHEMA = 'counted'
const TYPES = ['error:a:b', 'Error:c:d', 'warn:a:b', 'api:a:b', 'own', 'x'.repeat(255)]
const USERS = [null, 'ann', 'Ann', 'bob', 'ü', '']
const VALUES = [7, '7', true, null, ['x', 'x', ['y']], { id: 'deep' }, 'ŻÓŁW', [], 1e21]

/** Events `n` minutes after the first, or `shift` microseconds later. */
const eventAt = (n: number, shift = 0): AuditEvent => ({
  id: `00000000-0000-4000-8000-${String(n * 10 + shift).padStart(12, '0')}`,
  created_at: formatTimestamp(FIRST + n * MINUTE + shift),
  type: TYPES[(n * 7 + (n >> 5)) % TYPES.length]!,
  username: USERS[(n * 11) % USERS.length]!,
  system: n % 3 === 0,
  source: null,
  attributes: { n, step: VALUES[n % VALUES.length]!, ...(n % 11 === 0 && { rare: `r${n % 5}` }) },
})
const eventsAt = (from: number, to: number, shift = 0): AuditEvent[] =>
  Array.from({ length: to - from }, (_, i) => eventAt(from + i, shift))

const clock = manualClock('2026-01-05T00:00:00Z')
const memory = new AuditLog({ store: memoryStore({ clock }), types: {} })
let database: TestDatabase
let pool: pg.Pool
let postgres: AuditLog
/** The statements of the last count. */
let statements: string[] = []

const openStore = (minIndexed = 1) =>
  createPostgresStore(
    { pool, schema: SCHEMA, clock },
    { tuning: TUNING, checkMs: 600_000 },
    { minIndexed },
  )
const seal = (): Promise<void> => sealPostgres(database.url, SCHEMA, TUNING)

beforeAll(async () => {
  database = await postgresDatabase()
  pool = new pg.Pool({ connectionString: database.url, max: 1 })
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown
    client.query = ((given: unknown, ...others: unknown[]) => {
      const { text } = (typeof given === 'object' ? given : { text: given }) as { text: string }
      statements.push(text)
      return query(given, ...others)
    }) as typeof client.query
  })
  postgres = new AuditLog({ store: openStore().store, types: { 'info:a:b': {} } })
  for (const audit of [memory, postgres]) await audit.importEvents(eventsAt(0, SIZE))
  await seal()
})
afterAll(async () => {
  for (const audit of [memory, postgres]) await audit.close()
  await pool.end()
  await database.remove()
})

const between = (from: number, to: number): string =>
  `filter[created_at_gteq]=${formatTimestamp(FIRST + from * MINUTE)}&filter[created_at_lt]=${formatTimestamp(FIRST + to * MINUTE)}`

const QUERIES: readonly (readonly [filter: string, options: CountOptions])[] = [
  ['', {}],
  ['', { buckets: { count: 40 }, facets: ['level', 'type', 'username', 'system'], top: 1000 }],
  ['', { facets: ['step', 'step_id', 'rare', 'n', 'zz'], top: 1000 }],
  [between(300, 911), { buckets: { count: 200 }, facets: ['username', 'rare'] }],
  [between(999, 5000), { facets: ['type'] }],
  ['filter[type_start]=error:', { buckets: { count: 7 }, facets: ['level', 'type', 'step'] }],
  [`filter[username_cont]=nn&${between(100, 950)}`, { facets: ['username', 'level'] }],
  ['filter[username_null]=1&filter[system_not_eq]=0', { buckets: { count: 9 } }],
  ['filter[type_not_eq]=own&filter[n_gteq]=40', { facets: ['type', 'n', 'step'] }],
  ['filter[step_not_null]=1&filter[rare_blank]=1', { facets: ['rare', 'step'], top: 3 }],
]

const untimed = (counts: EventCounts): EventCounts => ({ ...counts, took_ms: 0 })

/** Without the `AuditLog`, which records damage. */
const count = (
  filter: string,
  options: CountOptions,
  { store }: Pick<AuditLog, 'store'> = postgres,
): Promise<EventCounts> => {
  statements = []
  return store.count(countsQuery(filter, { within: 60_000, ...options }))
}

const removedTimes = async (): Promise<number> =>
  (await database.pool.query(`SELECT FROM ${SCHEMA}.removed_events`)).rowCount!

const isChunkRead = (text: string): boolean => text.includes('segment_chunks')
const isGrouped = (text: string): boolean => text.includes('GROUP BY')

/** Compares all counts with those of the memory store; returns how many of them grouped rows in SQL. */
async function expectAgreement(audit: Pick<AuditLog, 'store'> = postgres): Promise<number> {
  let grouped = 0
  for (const [filter, options] of QUERIES) {
    const expected = await memory.count(filter, { within: 60_000, ...options })
    const counts = await count(filter, options, audit)
    expect(untimed(counts), JSON.stringify([filter, options])).toEqual(untimed(expected))
    if (statements.some(isGrouped)) grouped++
  }
  return grouped
}

describe('counts by the index are those of the memory store', () => {
  it('for segments of several levels, and without reading a row if all events are in one', async () => {
    expect(await expectAgreement()).toBe(QUERIES.length)
    for (const audit of [memory, postgres]) await audit.importEvents(eventsAt(SIZE, 1024))
    await seal()
    expect(await expectAgreement()).toBe(0)
  })

  it('in few messages, of which the first has all that is new', async () => {
    await count('', { buckets: { count: 40 } })
    expect(statements.length).toBe(2)
  })

  it('with late events that are in no segment, which one statement counts', async () => {
    for (const audit of [memory, postgres]) await audit.importEvents(eventsAt(900, 940, 5))
    await expectAgreement()
    await count('', { buckets: { count: 40 }, facets: ['type', 'step'] })
    expect(statements.filter(isGrouped).length).toBe(1)
  })

  it('with open live events, and after they were closed', async () => {
    const total = async (): Promise<number> => (await count('', {})).total
    const stored = await total()
    const live = await postgres.recordLive('info:a:b', {})
    expect(await total()).toBe(stored + 1)
    await live.close()
    expect(await total()).toBe(stored + 1)
    await postgres.store.remove([live.event!.id])
  })

  it('after events were removed, and others came in their place', async () => {
    for (const audit of [memory, postgres]) {
      await audit.store.remove(eventsAt(400, 420).map(({ id }) => id))
      await audit.importEvents(eventsAt(405, 410).map((event) => ({ ...event, type: 'own' })))
    }
    await expectAgreement()
    await count('', { facets: ['type', 'step'] })
    expect(statements.filter(isGrouped).length).toBe(1)
    // With the live event.
    expect(await removedTimes()).toBe(21)
    for (const audit of [memory, postgres]) await audit.importEvents(eventsAt(1024, 1600))
    await seal()
    await expectAgreement()
  })

  it('after so many events were removed that the ranges of their segments are left out', async () => {
    for (const audit of [memory, postgres])
      await audit.store.remove(eventsAt(450, 600).map(({ id }) => id))
    expect(await removedTimes()).toBeGreaterThan(MAX_REMOVED)
    await expectAgreement()
  })

  it('after the segments were built anew, which forgets what was removed', async () => {
    await database.pool.query(`UPDATE ${SCHEMA}.index_state SET rebuild = true`)
    await seal()
    await expectAgreement()
    // That of the live event, which is later than all segments.
    expect(await removedTimes()).toBe(1)
  })

  it('after all events before a time were removed', async () => {
    for (const audit of [memory, postgres]) {
      await audit.store.removeBefore(FIRST + 333 * MINUTE)
      await audit.importEvents(eventsAt(10, 20))
    }
    await expectAgreement()
  })

  it('if segments are damaged', async () => {
    await database.pool.query(
      `UPDATE ${SCHEMA}.segment_chunks SET posts = 'x' WHERE number % 7 = 3 AND name > 0`,
    )
    const { store } = openStore()
    await expectAgreement({ store })
    await store.close()
  })
})

describe('the index is not used', () => {
  it.each([
    ['for a sample', { within: 0 }, 1],
    ['for few events', {}, 1_000_000],
  ])('%s', async (_, options, minIndexed) => {
    const { store } = openStore(minIndexed)
    await count('', options, { store })
    expect(statements.some(isChunkRead)).toBe(false)
    await store.close()
  })
})
