import {
  AuditLog,
  type AuditEvent,
  type CountOptions,
  formatTimestamp,
  parseTimestamp,
} from 'daybook'
import { memoryStore } from 'daybook/memory'
import { sqliteStore } from 'daybook/sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { tempDir } from '../../support/temp.js'
import { turnsDuring } from '../../support/turns.js'

const SIZE = 8000

/** One event per second. Every fourth event is an error. */
const past = Array.from({ length: SIZE }, (_, n): AuditEvent => ({
  id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
  created_at: formatTimestamp(parseTimestamp('2026-01-01')! + n * 1_000_000),
  username: n % 2 === 0 ? 'ann' : null,
  system: true,
  type: n % 4 === 0 ? 'error:a:b' : 'api:a:b',
  source: null,
  attributes: { n: n % 10 },
}))

const METHODS: readonly (readonly [name: string, filter: string, options: CountOptions])[] = [
  ['by columns', '', { facets: ['username'] }],
  ['by rows', 'filter[n_not_null]=1', { facets: ['n'], attributes: true }],
]

const temp = tempDir()
const logs = {
  memory: new AuditLog({ store: memoryStore(), types: {} }),
  SQLite: new AuditLog({ store: sqliteStore({ filename: temp.file('audit.db') }), types: {} }),
}

beforeAll(async () => {
  for (const audit of Object.values(logs)) await audit.importEvents(past)
})
afterAll(async () => {
  for (const audit of Object.values(logs)) await audit.close()
  temp.remove()
})
afterEach(() => {
  vi.restoreAllMocks()
})

/** Advances the clock of the process at each reading; returns the number of readings. */
function driveTime(): () => number {
  let readings = 0
  vi.spyOn(performance, 'now').mockImplementation(() => 0.1 * readings++)
  return () => readings
}

describe.each(Object.entries(logs))('counting in the %s store', (_name, audit) => {
  describe.each(METHODS)('%s', (_method, filter, options) => {
    it('the event loop runs meanwhile', async () => {
      const turns = await turnsDuring(async () => {
        const counts = await audit.count(filter, { within: 60_000, ...options })
        expect(counts).toMatchObject({ total: SIZE, exact: { total: true } })
      })
      expect(turns).toBeGreaterThan(2)
    })

    it('when the time is over, the counts are lower bounds, from events of the whole time range', async () => {
      const readings = driveTime()
      expect(await audit.count(filter, { within: 60_000, ...options })).toMatchObject({
        exact: { total: true },
      })
      const within = Math.floor(0.03 * readings())
      const counts = await audit.count(filter, { within, ...options })
      expect(counts.exact.total).toBe(false)
      expect(counts.total).toBeGreaterThan(100)
      expect(counts.total).toBeLessThan(SIZE)
      expect(counts.levels.error! / counts.total).toBeCloseTo(1 / 4, 1)
    })

    it('a count ends when its signal aborts', async () => {
      const controller = new AbortController()
      const counting = audit.count(filter, { ...options, signal: controller.signal })
      controller.abort()
      await expect(counting).rejects.toMatchObject({ code: 'ABORTED' })
    })
  })
})

it('the SQLite store first counts the total by columns, then the attributes in the remaining time', async () => {
  const options = { facets: ['level', 'n'], attributes: true }
  const readings = driveTime()
  const { exact } = await logs.SQLite.count('', { within: 60_000, ...options })
  expect([exact.total, exact.attributes]).toEqual([true, true])
  const within = Math.floor(0.05 * readings())
  const counts = await logs.SQLite.count('', { within, ...options })
  expect(counts).toMatchObject({ total: SIZE, levels: { error: SIZE / 4, api: (SIZE * 3) / 4 } })
  expect(counts.exact).toEqual({ total: true, levels: true, buckets: true, attributes: false })
  expect(counts.facets).toMatchObject({ level: { exact: true }, n: { exact: false } })
  const [first] = counts.facets['n']!.values
  expect(first!.count).toBeLessThan(SIZE / 10)
})
