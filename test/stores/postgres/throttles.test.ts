import { setTimeout as delay } from 'node:timers/promises'
import type { EventQuery, EventStore } from 'daybook'
import pg from 'pg'
import { expect, it, vi } from 'vitest'
import { namesIn } from '../../../adapters/postgres/schema/names.js'
import { MINUTE } from '../../../src/event/timestamp.js'
import { draft, numbersOf, throttled, range } from '../../../src/testing/conformance/helpers.js'
import { manualClock } from '../../../src/testing/conformance/manual-clock.js'
import { useSchemas } from '../../support/schemas.js'
import { APPEND, startProxyOf } from '../../support/proxy.js'
import { poolThrough, watchedPool } from '../../support/watched-pool.js'

const { database, schema, openStore } = useSchemas('throttles')

const isAppend = (text: string): boolean => text.includes(`${namesIn(schema()).append}($1`)

const ALL: EventQuery = { where: undefined, sorts: [], limit: 1000 }

const stored = async (store: EventStore): Promise<unknown[]> =>
  numbersOf((await store.list(ALL)).events)

/** A report of suppressed calls under the key of `throttled`. */
const suppressed = (count: number, number = 1) => ({
  reporter: 'test',
  number,
  counts: [
    {
      ...{ key: 'test:event', type: 'test:event', scope: {}, period: MINUTE, count },
      ...{ first: 1_767_225_600_000_001, last: 1_767_225_600_000_002 },
    },
  ],
})

it('reports, appends and the outbox use the same throttles without a deadlock', async () => {
  const keys = range(0, 9).map((key) => `key ${key}`)
  const stores = Array.from({ length: 3 }, () => openStore())
  await stores[0]!.append(keys.map((key) => throttled({}, { key, period: 1 })))
  const statistics = async (): Promise<number> => {
    const { rows } = await database().pool.query<{ deadlocks: string }>(
      'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
    )
    return Number(rows[0]!.deadlocks)
  }
  const before = await statistics()
  const shuffled = (): string[] => keys.toSorted(() => Math.random() - 0.5)
  const calls = range(1, 30).flatMap((number) =>
    stores.flatMap((store, i) => [
      store.append(shuffled().map((key) => throttled({}, { key, period: 1 }))),
      store.reportSuppressed({
        reporter: `reporter ${i}.${number}`,
        number,
        counts: shuffled().map((key) => ({ ...suppressed(1).counts[0]!, key, period: 1 })),
      }),
    ]),
  )
  await Promise.all(calls)
  await delay(100)
  expect(await statistics()).toBe(before)
  await stores[0]!.append(keys.map((key) => throttled({}, { key, period: 0 })))
  const { events } = await stores[0]!.list(ALL)
  const recorded = events.reduce(
    (sum, { attributes }) => sum + Number(attributes['suppressed_count'] ?? 0),
    0,
  )
  const reports = 3 * 30 * keys.length
  expect(recorded).toBeGreaterThan(0)
  expect(recorded).toBeLessThanOrEqual(reports)
  const { rows } = await database().pool.query<{ left: string }>(
    `SELECT sum(suppressed) AS left FROM ${schema()}.throttles`,
  )
  expect(recorded + Number(rows[0]!.left)).toBe(reports)
  await Promise.all(stores.map((store) => store.close()))
})

it('a suppressed draft is not written and does not take the append lock', async () => {
  const asked: string[] = []
  const pool = watchedPool({ connectionString: database().url }, (text) => asked.push(text))
  const store = openStore({ pool })
  await store.append([throttled({ n: 0 })])
  const appends = (): number => asked.filter(isAppend).length
  expect(appends()).toBe(1)
  for (const n of range(1, 20)) expect(await store.append([throttled({ n })])).toEqual([])
  expect(appends()).toBe(1)
  await store.append([throttled({ n: 21 }), draft({ n: 22 })])
  expect(appends()).toBe(2)
  expect(await stored(store)).toEqual([0, 22])
  await store.close()
  await pool.end()
})

it('the throttle of an enlisted draft is checked when it is moved from the outbox', async () => {
  const store = openStore()
  await store.append([draft({ n: 0 })])
  const host = new pg.Client({ connectionString: database().url })
  await host.connect()
  await host.query('BEGIN')
  for (const n of range(1, 3)) await store.enlist!(throttled({ n }), host)
  await store.append([throttled({ n: 4 })])
  await host.query('COMMIT')
  await host.end()
  await store.append([draft({ n: 5 })])
  expect(await stored(store)).toEqual([0, 4, 5])
  const { rows } = await database().pool.query(
    `SELECT suppressed, last_at - first_at < 60000000 AS near FROM ${schema()}.throttles`,
  )
  expect(rows).toEqual([{ suppressed: '3', near: true }])
  await store.close()
})

it('a lost attempt closes no throttle to its own event', async () => {
  const { proxy, url } = await startProxyOf(database().url)
  const store = openStore({ connectionString: url })
  await store.append([draft({ n: 0 })])
  await store.reportSuppressed(suppressed(7))
  proxy.loseAnswerTo(APPEND)
  const [event] = await store.append([throttled({ n: 1 })])
  expect(event!.attributes).toEqual({
    n: 1,
    suppressed_count: 7,
    suppressed_since: '2026-01-01T00:00:00.000001Z',
  })
  expect(await store.get(event!.id)).toEqual(event)
  expect(await stored(store)).toEqual([0, 1])
  await store.close()
  await proxy.close()
})

it.each([{}, { live: true as const }])(
  'removing a rejected event reopens its throttle and restores the counts: %j',
  async (overrides) => {
    const controller = new AbortController()
    let isLosing = false
    const pool = poolThrough({ connectionString: database().url }, async (text, send) => {
      const answer = await send()
      if (!isLosing || !isAppend(text)) return answer
      isLosing = false
      controller.abort()
      throw new Error('the connection broke')
    })
    // Without the timers, only the next append undoes the lost attempt.
    vi.useFakeTimers({ toFake: ['setInterval'] })
    const store = openStore({ pool })
    vi.useRealTimers()
    const other = openStore()
    await store.append([draft({ n: 0 })])
    await store.reportSuppressed(suppressed(7))
    isLosing = true
    const call = store.append([throttled({ n: 1 }, {}, overrides)], { signal: controller.signal })
    await expect(call).rejects.toMatchObject({ code: 'ABORTED' })
    expect(await stored(other)).toEqual([0, 1])
    expect(await other.append([throttled({ n: 2 })])).toEqual([])
    const [event] = await store.append([throttled({ n: 3 })])
    expect(event!.attributes).toMatchObject({ n: 3, suppressed_count: 7 })
    expect(await stored(other)).toEqual([0, 3])
    expect(await other.openEvents()).toEqual([])
    await store.close()
    await other.close()
    await pool.end()
  },
)

it('a process that is suspended while it records suppressed counts blocks no other', async () => {
  const clock = manualClock()
  const store = openStore({ clock })
  await store.append([draft({ n: 0 })])
  await store.reportSuppressed(suppressed(1))
  clock.advance(10 * MINUTE)
  const host = new pg.Client({ connectionString: database().url })
  await host.connect()
  await host.query('BEGIN')
  await host.query(`SELECT FROM ${schema()}.throttles FOR UPDATE`)
  expect(await store.recordSuppressed(() => draft({ n: 1 }))).toBe(0)
  await host.query('ROLLBACK')
  await host.end()
  expect(await store.recordSuppressed(({ length }) => draft({ n: 1, length }))).toBe(1)
  expect((await store.list(ALL)).events.at(-1)!.attributes).toEqual({ n: 1, length: 1 })
  expect(await store.recordSuppressed(() => draft({ n: 2 }))).toBe(0)
  await store.close()
})
