import { AuditLog, type CountOptions, type EventCounts } from 'daybook'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { countsQuery } from '../../../src/counting/count-options.js'
import { MAX_REMOVED } from '../../../adapters/postgres/index/sealed-state.js'
import { createPostgresStore } from '../../../adapters/postgres/postgres-store.js'
import { postgresDatabase, type TestDatabase } from '../../support/database.js'
import { sealPostgres } from '../../support/seal-postgres.js'
import { watchedPool } from '../../support/watched-pool.js'
import {
  clock,
  countedLogs,
  eventsAt,
  expectOpenCounted,
  FIRST,
  INDEXED,
  MINUTE,
  OTHERS,
  QUERIES,
  SIZE,
  SMALL_TUNING,
  TUNING,
} from '../shared/counted-logs.js'

const SCHEMA = 'counted'

let database: TestDatabase
let pool: pg.Pool
let postgres: AuditLog<{ 'info:a:b': {} }>
/** The statements of the last count. */
let statements: string[] = []

/** Its intervals never begin, so that all statements are those of the calls. */
function openStore(minIndexed = 1, chunkBytes?: number) {
  vi.useFakeTimers({ toFake: ['setInterval'] })
  try {
    return createPostgresStore(
      { pool, schema: SCHEMA, clock, queryTimeoutMs: 600_000 },
      { tuning: TUNING, checkMs: 600_000 },
      { minIndexed, chunkBytes },
    )
  } finally {
    vi.useRealTimers()
  }
}
const anyNumber = expect.any(Number) as number
const seal = (): Promise<void> => sealPostgres(database.url, SCHEMA, TUNING)

beforeAll(async () => {
  database = await postgresDatabase()
  pool = watchedPool({ connectionString: database.url, max: 1 }, (text) => statements.push(text))
  postgres = new AuditLog({ store: openStore().store, types: { 'info:a:b': {} } })
  await importInBoth(eventsAt(0, SIZE))
  await seal()
})
afterAll(async () => {
  for (const audit of [memory, postgres]) await audit.close()
  await pool.end()
  await database.remove()
})

/** Counts without the `AuditLog`, which records damage. */
const count = (
  filter: string,
  options: CountOptions,
  { store }: Pick<AuditLog, 'store'> = postgres,
): Promise<EventCounts> => {
  statements = []
  return store.count(countsQuery(filter, { within: 60_000, ...options }))
}

const { memory, inBoth, importInBoth, removeInBoth, expectAgreement, expectLiveCounted } =
  countedLogs(
    () => postgres,
    (filter, options) => count(filter, options),
  )

const removedTimes = async (): Promise<number> =>
  (await database.pool.query(`SELECT FROM ${SCHEMA}.removed_events`)).rowCount!

const isChunkRead = (text: string): boolean => text.includes('segment_chunks')
const isOfEvents = (text: string): boolean => text.includes('AS slice (cell')

/** How many of the counts, which are compared with those of the memory store, read events. */
async function readingAmong(queries: typeof INDEXED): Promise<number> {
  let reading = 0
  await expectAgreement(queries, async (filter, options) => {
    const counts = await count(filter, options)
    if (statements.some(isOfEvents)) reading++
    return counts
  })
  return reading
}

describe('counts by the index equal those of the memory store', () => {
  it('for segments of several levels, and without reading a row if all events are in one', async () => {
    await expectAgreement(OTHERS)
    expect(await readingAmong(INDEXED)).toBeGreaterThan(INDEXED.length / 2)
    await importInBoth(eventsAt(SIZE, 1024))
    await seal()
    expect(await readingAmong(INDEXED)).toBe(0)
  })

  it('in few messages, of which the first has all new data', async () => {
    await count('', { buckets: { count: 40 } })
    expect(statements.length).toBe(2)
  })

  it('later without reading a segment again', async () => {
    const { store } = openStore(1, 1)
    const options = { buckets: { count: 40 }, facets: ['type', 'step'] }
    const filter = 'filter[type_not_eq]=own'
    const first = await count(filter, options, { store })
    expect(statements.some(isChunkRead)).toBe(true)
    expect(await count(filter, options, { store })).toEqual({ ...first, took_ms: anyNumber })
    expect(statements.some(isChunkRead)).toBe(false)
    for (const other of [{ ...options, facets: ['step'] }, { buckets: { count: 41 } }]) {
      await count(filter, other, { store })
      expect(statements.some(isChunkRead)).toBe(true)
    }
    await count('', options, { store })
    expect(statements.some(isChunkRead)).toBe(true)
    await store.close()
  })

  it('with late events in no segment, by one statement', async () => {
    await importInBoth(eventsAt(900, 940, 5))
    await expectAgreement()
    await count('', { buckets: { count: 40 }, facets: ['type', 'step'] })
    expect(statements.filter(isOfEvents).length).toBe(1)
  })

  it('with open live events, and after they were closed', () => expectLiveCounted())

  it('after events were removed, and others got their times', async () => {
    await removeInBoth(eventsAt(400, 420))
    await importInBoth(eventsAt(405, 410).map((event) => ({ ...event, type: 'own' })))
    await expectAgreement()
    await count('', { facets: ['type', 'step'] })
    expect(statements.filter(isOfEvents).length).toBe(1)
    // With the live event.
    expect(await removedTimes()).toBe(21)
    await importInBoth(eventsAt(1024, 1600))
    await seal()
    await expectAgreement(QUERIES)
  })

  it('after the removal of so many events that the ranges of their segments are left out', async () => {
    await removeInBoth(eventsAt(450, 600))
    expect(await removedTimes()).toBeGreaterThan(MAX_REMOVED)
    await expectAgreement()
  })

  it('after the segments were rebuilt without removed events', async () => {
    await database.pool.query(`UPDATE ${SCHEMA}.index_state SET rebuild = true`)
    await seal()
    await expectAgreement()
    // The live event is later than all segments.
    expect(await removedTimes()).toBe(1)
  })

  it('after all events before a time were removed', async () => {
    await inBoth((audit) => audit.store.removeBefore(FIRST + 333 * MINUTE))
    await importInBoth(eventsAt(10, 20))
    await expectAgreement()
  })

  it('if segments are damaged', async () => {
    await database.pool.query(
      `UPDATE ${SCHEMA}.segment_chunks SET posts = 'x' WHERE number % 7 = 3 AND name > 0`,
    )
    const { store } = openStore()
    await expectAgreement(undefined, (filter, options) => count(filter, options, { store }))
    await store.close()
  })
})

it('an open live event counts once, and every segment is searched', async () => {
  const options = { pool, schema: 'opened', clock, queryTimeoutMs: 600_000 }
  const { store } = createPostgresStore(
    options,
    { tuning: SMALL_TUNING, checkMs: 600_000 },
    { minIndexed: 1 },
  )
  await using audit = new AuditLog({ store, types: { 'info:a:b': {} } })
  const sealAll = (): Promise<void> => sealPostgres(database.url, 'opened', SMALL_TUNING)
  await expectOpenCounted(audit, sealAll, (filter, given) => count(filter, given, audit))
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

  it.each([
    ['a sample', '', { within: 0 }],
    ['a filter on sources', 'filter[source_start]=/api', {}],
  ])('and its state is not read for %s', async (_, filter, options) => {
    await count(filter, options)
    expect(statements.some((text) => text.includes('index_state'))).toBe(false)
  })
})
