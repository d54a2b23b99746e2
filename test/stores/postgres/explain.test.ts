import { setImmediate as nextTurn } from 'node:timers/promises'
import { AuditLog, type AuditEvent, formatTimestamp, parseTimestamp, type SlowQuery } from 'daybook'
import { postgresStore, type PostgresStoreOptions } from 'daybook/postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useSchemas } from '../../support/schemas.js'
import { sealPostgres } from '../../support/seal-postgres.js'
import { watchedPool } from '../../support/watched-pool.js'

const SIZE = 1500
const { database } = useSchemas('explain')

/** Events of more than three days. */
const past = Array.from({ length: SIZE }, (_, n): AuditEvent => ({
  id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
  created_at: formatTimestamp(parseTimestamp('2026-01-01')! + n * 180_000_000),
  username: null,
  system: true,
  type: 'api:a:b',
  source: null,
  attributes: { n, word: n < 2 ? 'needle' : 'hay' },
}))

type Options = Partial<PostgresStoreOptions>

const openLog = (schema: string, options: Options = {}): AuditLog =>
  new AuditLog({
    store: postgresStore({ connectionString: database().url, schema, ...options }),
    types: {},
    slowQueryMs: 0,
  })

/** A filter that matches all events except the newest. */
const MOST = `filter[word_eq]=hay&filter[n_lt]=${SIZE - 100}`

/** Rows that the planner may read in a query. */
const MAX_PLANNED = 200

/**
 * A matcher for at least this number of rows. After autovacuum has analyzed a table, the planner reads rows at the
 * ends of its index, and the server also counts these rows.
 */
const readAtLeast = (rows: number): unknown =>
  expect.toSatisfy(
    (read: number) => read >= rows && read <= rows + MAX_PLANNED,
    `${rows} rows, or up to ${MAX_PLANNED} more`,
  )

const explain = async (audit: AuditLog, query: string) => {
  const { steps } = await audit.explain(query)
  return steps.map(({ method, rows, checked, matched, reason }) => {
    return { method, rows, checked, matched, reason }
  })
}

describe.each([
  ['one table', { schema: 'whole', partitions: 'none' }],
  ['partitions', { schema: 'parts', partitions: 'day' }],
] as const)('%s', (_, { schema, partitions }) => {
  let audit: AuditLog

  beforeAll(async () => {
    audit = openLog(schema, { partitions })
    await audit.importEvents(past)
  })
  afterAll(() => audit.close())

  it('the newest events suffice', async () => {
    expect(await explain(audit, 'filter[word_eq]=hay&limit=4')).toEqual([
      { method: 'probe', rows: expect.any(Number), checked: 5, matched: 5, reason: undefined },
    ])
  })

  it.each([
    ['a rare value', 'filter[word_eq]=needle', 100, 2],
    ['few events by a bound', 'filter[n_lt]=2', 250, 3],
  ])('the index finds %s', async (_title, query, probed, checked) => {
    const [probe, index, ...more] = await explain(audit, query)
    expect(more).toEqual([])
    expect(probe).toMatchObject({ method: 'probe', rows: readAtLeast(probed), checked: 0 })
    expect(index).toMatchObject({
      method: 'index',
      checked,
      matched: 2,
      reason: `0 of the ${probed} newest events match`,
    })
  })

  it('events are read one by one while enough of them match', async () => {
    expect(await explain(audit, `${MOST}&limit=300`)).toMatchObject([
      { method: 'probe', checked: 301, matched: 301 },
    ])
  })

  it('a filter that the index cannot answer is scanned', async () => {
    expect(await explain(audit, 'filter[id_start]=00000000-0000-4000-8000-00000000000')).toEqual([
      {
        method: 'scan',
        rows: readAtLeast(SIZE),
        checked: SIZE,
        matched: 10,
        reason: 'the index cannot answer the filter',
      },
    ])
  })

  it('a sorted list reads only the first matching events', async () => {
    await audit.list('filter[sorts]=n')
    const [sort, ...more] = await explain(audit, 'filter[word_cont]=ha&filter[sorts]=n')
    expect(more).toEqual([])
    expect(sort).toMatchObject({ method: 'sort', checked: 11, matched: 11 })
    // While the events are being sealed, there is one more row: the first unsealed event.
    expect(sort!.rows).toBeLessThanOrEqual(12)
  })
})

it('large events that SQL cannot rule out end the probe', async () => {
  await using audit = openLog('large')
  // SQL tests only the last key of a name of so many parts. Statements of 11 rows read a mebibyte.
  const values = Object.fromEntries(Array.from({ length: 3000 }, (_, i) => [`n_${i}`, i]))
  const names = { ...values, i: 1 }
  await Promise.all(Array.from({ length: 60 }, () => audit.recordCustom('large', names)))
  const [probe, ...more] = await explain(audit, 'filter[a_or_a_b_c_d_e_f_g_h_i_eq]=5')
  expect(probe).toMatchObject({ method: 'probe', checked: 33, matched: 0 })
  expect(more).toMatchObject([{ method: 'index', matched: 0 }])
})

/**
 * The steps of each query, and the number of its statements together with the BEGIN of its snapshot. A process runs
 * the queries in this order.
 */
async function plansOf(
  schema: string,
  queries: readonly string[],
): Promise<ReadonlyMap<string, unknown>> {
  const statements: number[] = []
  const pool = watchedPool({ connectionString: database().url, max: 1 }, (text) => {
    if (text.startsWith('BEGIN ISOLATION LEVEL REPEATABLE READ'))
      statements.push(text.split(';').length)
  })
  const log = new AuditLog({ store: postgresStore({ pool, schema }), types: {} })
  const plans = new Map<string, unknown>()
  for (const query of queries) {
    const { steps } = await log.explain(query)
    statements.length = 0
    await log.list(query)
    const plan = steps.map(({ method, checked, matched, reason }) => [
      method,
      checked,
      matched,
      reason,
    ])
    plans.set(query, [...statements, ...plan])
  }
  await log.close()
  await pool.end()
  return plans
}

it('in a sealed log each list takes the same few steps, independent of earlier queries', async () => {
  const schema = 'sealed'
  await using audit = openLog(schema)
  await audit.importEvents(past)
  await sealPostgres(database().url, schema, { segmentSize: 300, fanOut: 16 })
  expect(await explain(audit, 'filter[n_lt]=2')).toMatchObject([
    { method: 'probe', rows: 250, checked: 0 },
    { method: 'index', rows: 3, checked: 3, matched: 2 },
  ])
  const queries = [
    'filter[word_eq]=hay&limit=4',
    'filter[word_eq]=needle',
    'filter[word_eq]=none',
    'filter[word_start]=need',
    `filter[n_lt]=${SIZE - 100}&filter[word_not_null]=1&limit=300`,
  ]
  const plans = await plansOf(schema, queries)
  expect(plans.get('filter[word_eq]=needle')).toMatchObject([
    expect.any(Number),
    ['probe', 0, 0, undefined],
    ['index', 2, 2, '0 of the 100 newest events match'],
  ])
  for (const order of [[...queries, ...queries], queries.toReversed()])
    expect(await plansOf(schema, order)).toEqual(plans)
})

it('a query that times out is explained up to the time-out', async () => {
  await using audit = openLog('whole', { queryTimeoutMs: 1000 })
  // Connects, and checks the schema, without the time limit of a query.
  await audit.store.touchLive([])
  const slowQueries: SlowQuery[] = []
  audit.on('slow-query', (slow) => slowQueries.push(slow))
  const client = await database().pool.connect()
  try {
    await client.query(`BEGIN; LOCK TABLE whole.events`)
    await expect(audit.list('filter[n_lt]=2')).rejects.toMatchObject({ code: 'QUERY_TIMEOUT' })
  } finally {
    await client.query('ROLLBACK')
    client.release()
  }
  await nextTurn()
  expect(slowQueries).toMatchObject([
    {
      query: 'filter[n_lt]=2&limit=10',
      error: { code: 'QUERY_TIMEOUT' },
      explanation: { events: 0, steps: [{ method: 'probe', rows: 0 }] },
    },
  ])
})
