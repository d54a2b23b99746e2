import { setImmediate as nextTurn } from 'node:timers/promises'
import { AuditLog, type AuditEvent, formatTimestamp, parseTimestamp, type SlowQuery } from 'daybook'
import type { PostgresStoreOptions } from 'daybook/postgres'
import { afterEach, describe, expect, it } from 'vitest'
import { useSchemas } from '../../support/schemas.js'

const SIZE = 5000
const schemas = useSchemas('explain')
let audit: AuditLog
afterEach(() => audit.close())

const past = Array.from({ length: SIZE }, (_, n): AuditEvent => ({
  id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
  created_at: formatTimestamp(parseTimestamp('2026-01-01')! + n * 60_000_000),
  username: null,
  system: true,
  type: 'api:a:b',
  source: null,
  attributes: { n, word: n < 2 ? 'needle' : 'hay' },
}))

async function openLog(options: Partial<PostgresStoreOptions> = {}): Promise<void> {
  audit = new AuditLog({ store: schemas.openStore(options), types: {}, slowQueryMs: 0 })
  for (let i = 0; i < SIZE; i += 1000) await audit.importEvents(past.slice(i, i + 1000))
}

const explain = async (query: string) => {
  const { steps } = await audit.explain(query)
  return steps.map(({ method, rows, checked, matched, reason }) => {
    return { method, rows, checked, matched, reason }
  })
}

describe.each([
  ['one table', { partitions: 'none' }],
  ['partitions', { partitions: 'day' }],
] as const)('%s', (_, options) => {
  it('the newest events suffice', async () => {
    await openLog(options)
    expect(await explain('filter[word_eq]=hay&limit=4')).toEqual([
      { method: 'probe', rows: expect.any(Number), checked: 5, matched: 5, reason: undefined },
    ])
  })

  it('the index finds a rare value', async () => {
    await openLog(options)
    const [probe, index, ...more] = await explain('filter[word_eq]=needle')
    expect(more).toEqual([])
    expect(probe).toMatchObject({ method: 'probe', rows: 250, checked: 0 })
    expect(index).toMatchObject({
      method: 'index',
      checked: 2,
      matched: 2,
      reason: '0 of the 250 newest events may match',
    })
    // The second list does not probe the newest events, as none matched before.
    expect(await explain('filter[word_eq]=needle')).toEqual([
      {
        method: 'index',
        rows: 2,
        checked: 2,
        matched: 2,
        reason: 'none of the newest events passed the last filter on the same attributes',
      },
    ])
  })

  it('the newest events are probed again after the index found a full page', async () => {
    await openLog(options)
    await explain('filter[word_eq]=needle')
    const methods = async (): Promise<unknown> =>
      (await explain('filter[word_eq]=hay&limit=4')).map(({ method }) => method)
    expect(await methods()).toEqual(['index'])
    expect(await methods()).toEqual(['probe'])
  })

  it('events are read one by one while enough of them match', async () => {
    await openLog(options)
    expect(await explain('filter[word_eq]=hay&filter[n_lt]=4900&limit=1000')).toMatchObject([
      { method: 'probe', checked: 1001, matched: 1001 },
    ])
  })

  it('a filter that the index cannot answer is scanned', async () => {
    await openLog(options)
    expect(await explain('filter[id_start]=00000000-0000-4000-8000-00000000000')).toEqual([
      {
        method: 'scan',
        rows: SIZE,
        checked: SIZE,
        matched: 10,
        reason: 'the index cannot answer the filter',
      },
    ])
  })

  it('a sorted list reads only the first matching events', async () => {
    await openLog(options)
    await audit.list('filter[sorts]=n')
    const [sort, ...more] = await explain('filter[word_cont]=ha&filter[sorts]=n')
    expect(more).toEqual([])
    expect(sort).toMatchObject({ method: 'sort', checked: 11, matched: 11 })
    // One row more if the events are being sealed: the unsealed ones have a first event of their own.
    expect(sort!.rows).toBeLessThanOrEqual(12)
  })
})

it('a slow query is explained without further statements', async () => {
  await openLog()
  const slowQueries: SlowQuery[] = []
  audit.on('slow-query', (slow) => slowQueries.push(slow))
  await audit.list('filter[n_lt]=2')
  await nextTurn()
  expect(slowQueries[0]!.explanation!.steps).toMatchObject([
    { method: 'probe', rows: 250, checked: 0 },
    { method: 'index', rows: 3, checked: 3, matched: 2 },
  ])
})

it('a query that times out is explained up to that point', async () => {
  await openLog({ queryTimeoutMs: 1000 })
  const slowQueries: SlowQuery[] = []
  audit.on('slow-query', (slow) => slowQueries.push(slow))
  const client = await schemas.database().pool.connect()
  try {
    await client.query(`BEGIN; LOCK TABLE ${schemas.schema()}.events`)
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
