import pg from 'pg'
import { describe, expect, it, vi } from 'vitest'
import { namesIn } from '../../../adapters/postgres/schema/names.js'
import { draft, numbersOf, range } from '../../../src/testing/conformance/helpers.js'
import { useSchemas } from '../../support/schemas.js'

const { database, schema, query, openStore } = useSchemas('cleaning')

/** Inserts events without the store; attributes have 7 to 12 bytes, times are 1, 2, 3 … */
const fill = (count: number, client: pg.Pool | pg.Client = database().pool): Promise<unknown> =>
  client.query(
    `INSERT INTO ${schema()}.events
     SELECT i, lpad(i::text, 16, '8'), 'test:event', NULL, NULL, false,
       ('{"n":' || i || '}')::json FROM generate_series(1, ${count}) AS i`,
  )

const bytesOf = (n: number): number => JSON.stringify({ n }).length

describe('excess', () => {
  it('sums the sizes of many events exactly', async () => {
    const store = openStore({ partitions: 'none' })
    await store.append([draft({})])
    await store.removeBefore(Number.MAX_SAFE_INTEGER)
    const count = 45_000
    await fill(count)
    const kept = 30_000
    const bytes = range(count - kept + 1, count).reduce((sum, n) => sum + bytesOf(n), 0)
    const first = count - kept + 1
    expect(await store.excess({ bytes })).toEqual({ before: first, count: first - 1 })
    expect(await store.excess({ bytes: bytes - 1 })).toEqual({ before: first + 1, count: first })
    expect(await store.excess({ rows: kept })).toEqual({ before: first, count: first - 1 })
    expect(await store.excess({ rows: count })).toEqual({ before: 0, count: 0 })
    expect(await store.excess({ bytes: Number.MAX_SAFE_INTEGER })).toEqual({ before: 0, count: 0 })
    await store.close()
  })
})

describe('removal', () => {
  it('reports its progress and continues after the last batch', async () => {
    const store = openStore({ partitions: 'none' })
    await store.append([draft({ n: 0 })])
    await fill(1700)
    const progress: number[] = []
    expect(
      await store.removeBefore(1601, { onProgress: (removed) => progress.push(removed) }),
    ).toBe(1600)
    expect(progress.at(-1)).toBe(1600)
    expect(progress.length).toBeGreaterThan(2)
    expect(progress).toEqual(progress.toSorted((a, b) => a - b))
    const { events } = await store.list({ where: undefined, sorts: [], limit: 1000 })
    expect(numbersOf(events)).toEqual([...range(1601, 1700), 0])
    expect(await store.remove(events.slice(0, 60).map(({ id }) => id))).toBe(60)
    expect((await store.list({ where: undefined, sorts: [], limit: 1000 })).events).toEqual(
      events.slice(60),
    )
    await store.close()
  })

  it('reports the progress of dropped partitions', async () => {
    const store = openStore({ partitions: 'day', clock: () => 1_767_225_600_000_000 })
    await store.append([draft({ n: 0 }), draft({ n: 1 })])
    const progress: number[] = []
    const removed = await store.removeBefore(1_767_398_400_000_000, {
      onProgress: (removed) => progress.push(removed),
    })
    expect(removed).toBe(2)
    expect(progress.at(-1)).toBe(2)
    await store.close()
  })
})

describe('analyze', () => {
  it('analyzes stale tables and returns their row counts, then has nothing to do', async () => {
    const writer = openStore({ partitions: 'none' })
    await writer.openEvents()
    // Otherwise the server may analyze the table first.
    await query('ALTER TABLE %events SET (autovacuum_enabled = off)')
    await writer.append(range(1, 100).map((n) => draft({ n })))
    await writer.close()
    const changed = `SELECT n_mod_since_analyze::int AS rows FROM pg_stat_user_tables
      WHERE schemaname = '${schema()}' AND relname = 'events'`
    // A session reports its statistics when it ends, otherwise within 10 s.
    const untilReported = (rows: number): Promise<unknown> =>
      vi.waitFor(
        async () => expect((await database().pool.query(changed)).rows).toEqual([{ rows }]),
        { timeout: 60_000 },
      )
    await untilReported(100)
    const store = openStore({ partitions: 'none' })
    const { analyzed_tables } = await store.analyze!()
    expect(analyzed_tables).toContainEqual({
      table: `${schema()}.events`,
      rows_before: null,
      rows_after: 100,
    })
    expect((await store.analyze!()).analyzed_tables).toEqual([])
    const filling = new pg.Client({ connectionString: database().url })
    await filling.connect()
    await fill(1000, filling)
    await filling.end()
    await untilReported(1000)
    expect((await store.analyze!()).analyzed_tables).toEqual([
      { table: `${schema()}.events`, rows_before: 100, rows_after: 1100 },
    ])
    await store.close()
  })

  it('is skipped while another process analyzes', async () => {
    const store = openStore()
    await store.append([draft({})])
    const host = new pg.Client({ connectionString: database().url })
    await host.connect()
    await host.query(`SELECT pg_advisory_lock(${namesIn(schema()).locks.analysis})`)
    expect(await store.analyze!()).toEqual({
      analyzed_tables: [],
      skipped_reason: expect.stringContaining('another process') as string,
    })
    await host.end()
    await store.close()
  })
})
