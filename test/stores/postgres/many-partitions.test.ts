import { type AuditEvent, formatTimestamp } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createPostgresStore } from '../../../adapters/postgres/postgres-store.js'
import { nearBounds } from '../../../adapters/postgres/read/near-bounds.js'
import { EXACTLY } from '../../support/exact-counts.js'
import { eventAt } from '../../support/imported-event.js'
import { sealPostgres } from '../../support/seal-postgres.js'
import { useSchemas } from '../../support/schemas.js'
import { watchedPool } from '../../support/watched-pool.js'
import { openWorld } from '../shared/cleaning-world.js'

const { database, schema } = useSchemas('many_partitions')

const DAY = 86_400_000_000
const START = Date.UTC(2026, 0, 1) * 1000
const DAYS = 30
const FIVE_DAYS = 5

/** A few events on some days, none on others. */
const events: readonly AuditEvent[] = Array.from({ length: DAYS }, (_, day) => day)
  .filter((day) => day % FIVE_DAYS !== 3)
  .flatMap((day) =>
    [1, 2, 3].map((n) =>
      eventAt(START + day * DAY + n, {
        type: n === 3 ? 'third' : 'other',
        attributes: { n, day },
      }),
    ),
  )

/** Reads all events, page by page. */
async function readAll(
  list: (query: string) => Promise<readonly AuditEvent[]>,
  { filter, limit, order }: { filter: string; limit: number; order: 'asc' | 'desc' },
): Promise<readonly AuditEvent[]> {
  const found: AuditEvent[] = []
  const sorts = order === 'asc' ? '&filter[sorts]=created_at' : ''
  for (let after = ''; ;) {
    const page = await list(`limit=${limit}${filter}${sorts}${after}`)
    found.push(...(order === 'asc' ? page : page.toReversed()))
    if (page.length < limit) return found
    const last = found.at(-1)!.created_at
    after = `&filter[created_at_${order === 'asc' ? 'gt' : 'lt'}]=${last}`
  }
}

const TUNING = { segmentSize: 16, fanOut: 4 }

describe.each(['by the index', 'from memory'])('lists of a log with many partitions, %s', (way) => {
  it('have the events of all of them', async () => {
    // The last days have no events.
    const clock = (): number => START + (DAYS + 4) * DAY
    const options = { connectionString: database().url, schema: schema(), clock }
    const internals = { tuning: TUNING, firstProbe: 4 }
    const { store } = createPostgresStore({ ...options, partitions: 'day' }, internals)
    const { audit, close } = openWorld(store)
    onTestFinished(close)
    await audit.importEvents(events)
    if (way === 'by the index') await sealPostgres(database().url, schema(), TUNING)
    const list = async (query: string): Promise<readonly AuditEvent[]> =>
      (await audit.list(query)).events
    const filters: readonly (readonly [string, (event: AuditEvent) => boolean])[] = [
      ['', () => true],
      ['&filter[type_eq]=third', ({ type }) => type === 'third'],
      ['&filter[n_gteq]=2', ({ attributes }) => Number(attributes['n']) >= 2],
      ['&filter[day_eq]=1', ({ attributes }) => attributes['day'] === 1],
      ['&q=third', ({ type }) => type === 'third'],
      ['&filter[none_eq]=1', () => false],
    ]
    for (const [filter, matches] of filters) {
      const expected = events.filter(matches)
      for (const limit of [2, 100])
        for (const order of ['asc', 'desc'] as const)
          expect(
            await readAll(list, { filter, limit, order }),
            `${filter} ${limit} ${order}`,
          ).toEqual(order === 'asc' ? expected : expected.toReversed())
    }
  })
})

it('counts all events after the oldest have changed', async () => {
  const clock = (): number => START + (DAYS + 4) * DAY
  const store = postgresStore({
    connectionString: database().url,
    schema: schema(),
    partitions: 'day',
    clock,
  })
  const { audit, close } = openWorld(store)
  onTestFinished(close)
  const counts = async () => {
    const { total, buckets } = await audit.count('', { ...EXACTLY, buckets: { count: 10 } })
    return { total, first: buckets!.buckets[0]?.from }
  }
  const fourth = events.filter(({ created_at }) => created_at >= formatTimestamp(START + 4 * DAY))
  await audit.importEvents(fourth)
  const late = await counts()
  expect(late.total).toBe(fourth.length)
  expect(await counts()).toEqual(late)
  await audit.importEvents(events)
  const all = await counts()
  expect(all.total).toBe(events.length)
  expect(all.first! < late.first!).toBe(true)
  await store.removeBefore(START + 4 * DAY)
  expect(await counts()).toEqual(late)
  await store.removeBefore(START + DAYS * DAY)
  expect(await counts()).toMatchObject({ total: 0 })
  await audit.recordCustom('new')
  expect(await counts()).toMatchObject({ total: 1 })
})

it('lists of an idle log read only the partitions around its newest event', async () => {
  const clock = (): number => START + (DAYS + 4) * DAY
  let reads = 0
  const pool = watchedPool({ connectionString: database().url, max: 1 }, (text) => {
    if (text.includes('.events') && text.includes('ORDER BY created_at DESC')) reads++
  })
  const store = postgresStore({ pool, schema: schema(), partitions: 'day', clock })
  const { audit, close } = openWorld(store)
  onTestFinished(async () => {
    await close()
    await pool.end()
  })
  await audit.importEvents(events)
  for (let i = 0; i < 2; i++) {
    reads = 0
    expect((await audit.list('limit=2')).events).toEqual(events.slice(-2))
  }
  expect(reads).toBe(1)
})

it('reads the partitions at the start of the order first', () => {
  const oldest = START - 200 * DAY
  const now = START + 10 * DAY + 5
  const log = { partitions: 'day', count: 240, oldest, newest: now - 1, now } as const
  const all = { from: 0, to: Number.MAX_SAFE_INTEGER }
  expect(nearBounds(all, 'desc', log)).toEqual({ from: START + 9 * DAY, to: all.to })
  const idle = { ...log, newest: now - 100 * DAY }
  expect(nearBounds(all, 'desc', idle)).toEqual({ from: START - 91 * DAY, to: all.to })
  // A clock that was set back.
  expect(nearBounds(all, 'desc', { ...log, newest: now + 100 * DAY })).toEqual({
    from: START + 9 * DAY,
    to: all.to,
  })
  const earlier = { from: 0, to: START + 5 * DAY }
  expect(nearBounds(earlier, 'desc', log)).toEqual({ from: START + 4 * DAY, to: earlier.to })
  expect(nearBounds(all, 'asc', log)).toEqual({ from: 0, to: START - 198 * DAY - 1 })
  expect(nearBounds(all, 'asc', { ...log, oldest: undefined })).toEqual(all)
  const later = { from: START + 1, to: all.to }
  expect(nearBounds(later, 'asc', log)).toEqual({ from: START + 1, to: START + 2 * DAY - 1 })
  expect(nearBounds(all, 'desc', { ...log, count: 15 })).toEqual(all)
  expect(nearBounds(all, 'desc', { ...log, partitions: 'none' })).toEqual(all)
  const near = nearBounds(all, 'desc', { ...log, partitions: 'month' })
  expect(near).toEqual({ from: Date.UTC(2025, 11, 1) * 1000, to: all.to })
})
