import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, type AuditEvent, type EventCounts, formatTimestamp } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { manualClock } from 'daybook/testing'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createConnection } from '../../adapters/sqlite/connection/connection.js'
import { openDatabase } from '../../adapters/sqlite/connection/database.js'
import { DEFAULT_CACHE_BYTES } from '../../adapters/sqlite/connection/page-cache.js'
import { createLogIndex } from '../../adapters/sqlite/index/log-index.js'
import { pacerInMain } from '../../adapters/sqlite/index/pacing.js'
import { DIALECT, runProgram } from '../../adapters/sqlite/index/dialect.js'
import { requestRebuild } from '../../src/store-kit/maintenance/repairs.js'
import { createRoundRunner } from '../../adapters/sqlite/index/round-runner.js'
import { countEvents } from '../../adapters/sqlite/read/count.js'
import { createTables } from '../../adapters/sqlite/schema/log-tables.js'
import { createSqliteStore } from '../../adapters/sqlite/sqlite-store.js'
import { countsQuery } from '../../src/counting/count-options.js'
import { tempDir } from '../support/temp.js'

/* The index must count each stored event once, after any history of additions and removals. */

const TUNING = { segmentSize: 8, fanOut: 3 }
/** Seals also fewer events. */
const EARLY_TUNING = { ...TUNING, early: { minEvents: 2, afterMs: 0 } }
/** 2026-01-01T00:00:00Z */
const START = 1_767_225_600_000_000
const SECOND = 1_000_000
/** Number of seconds. Each can have one event. */
const SECONDS = 120

const some = fc
  .record({
    from: fc.nat(SECONDS - 1),
    count: fc.integer({ min: 1, max: 40 }),
    every: fc.integer({ min: 1, max: 4 }),
  })
  .map(({ from, count, every }) =>
    Array.from({ length: count }, (_, i) => (from + i * every) % SECONDS),
  )

type Step = readonly [
  act: 'import' | 'remove' | 'removeBefore' | 'index' | 'indexEarly' | 'rebuild',
  seconds: readonly number[],
]

const stepOf = (act: Step[0]): fc.Arbitrary<Step> =>
  (act === 'removeBefore' ? fc.nat(SECONDS / 4).map((at) => [at]) : some).map(
    (seconds) => [act, seconds] as const,
  )

const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: stepOf('import') },
    { weight: 4, arbitrary: stepOf('remove') },
    { weight: 1, arbitrary: stepOf('removeBefore') },
    { weight: 6, arbitrary: stepOf('index') },
    { weight: 3, arbitrary: stepOf('indexEarly') },
    { weight: 1, arbitrary: stepOf('rebuild') },
  ),
  { minLength: 24, maxLength: 24, size: 'max' },
)

const idOf = (second: number): string =>
  `00000000-0000-4000-8000-${String(second).padStart(12, '0')}`

/** The event of a second. In another round it has other attributes. */
const eventAt = (second: number, round: number): AuditEvent => ({
  id: idOf(second),
  created_at: formatTimestamp(START + second * SECOND),
  type: ['api:a:b', 'error:a:b', 'own'][(second + round) % 3]!,
  username: ['ann', 'bob', null][(second * 5 + round) % 3]!,
  system: second % 2 === 0,
  source: null,
  attributes: { round, list: [second % 3, round % 2] },
})

const QUERIES = [
  ['', { facets: ['type', 'username'], buckets: { count: 12 } }],
  ['filter[list_eq]=1', { facets: ['level', 'username', 'round'], buckets: { count: 5 } }],
  ['filter[username_eq]=ann&filter[round_not_eq]=3', { facets: ['username', 'list'] }],
] as const

const untimed = (counts: EventCounts): EventCounts => ({ ...counts, took_ms: 0 })

/**
 * Runs the steps on both stores and compares their counts. Returns the number of chunks of the index that were read.
 */
async function compare(steps: readonly Step[]): Promise<number> {
  const temp = tempDir()
  const clock = manualClock('2026-02-01T00:00:00Z')
  const filename = temp.file('audit.db')
  const { store, sealer } = createSqliteStore({ filename, clock }, { tuning: TUNING })
  const memory = new AuditLog({ store: memoryStore({ clock }), types: {} })
  const sqlite = new AuditLog({ store, types: {} })
  const database = openDatabase(filename, () => {})
  const connection = createConnection(database)
  const tables = createTables(connection)
  const index = createLogIndex(tables, TUNING)
  const builder = createRoundRunner(
    {
      filename,
      driver: connection.driver.name,
      tuning: EARLY_TUNING,
      leaseMs: 10_000,
      cacheBytes: DEFAULT_CACHE_BYTES,
    },
    pacerInMain,
  )

  const take = async ([act, seconds]: Step, round: number): Promise<void> => {
    const { events } = await memory.list({ limit: 1000 })
    const present = new Set(events.map(({ id }) => id))
    const absent = [...new Set(seconds)].filter((second) => !present.has(idOf(second)))
    for (const audit of [memory, sqlite]) {
      if (act === 'import') await audit.importEvents(absent.map((at) => eventAt(at, round)))
      if (act === 'remove') await audit.store.remove(seconds.map(idOf))
      if (act === 'removeBefore') await audit.store.removeBefore(START + seconds[0]! * SECOND)
    }
    if (act === 'rebuild')
      await connection.write(() => runProgram(connection, requestRebuild(DIALECT)), {})
    if (act === 'indexEarly') while ((await builder.run(true)) === 'leased') await delay(10)
    if (act !== 'index' && act !== 'rebuild') return
    sealer.checkSoon()
    await sealer.settled()
  }
  try {
    for (const [round, step] of steps.entries()) {
      await take(step, round)
      if (step[0] === 'import') continue
      for (const [filter, options] of QUERIES) {
        const query = countsQuery(filter, { within: 60_000, ...options })
        const counts = await countEvents(
          { tables, index, firstProbe: 64, minIndexed: 1 },
          query,
          clock,
          {},
        )
        const expected = await memory.count(filter, { within: 60_000, ...options })
        expect(untimed(counts), filter).toEqual(untimed(expected))
      }
    }
    return index.reads()
  } finally {
    await builder.close()
    database.close()
    for (const audit of [memory, sqlite]) await audit.close()
    temp.remove()
  }
}

it('the index counts each event once after any history', async () => {
  let reads = 0
  await fc.assert(
    fc.asyncProperty(steps, async (steps) => {
      reads += await compare(steps)
    }),
    // After some histories, the index counts only few events. The first history has many.
    {
      numRuns: 2,
      examples: fc.sample(fc.tuple(steps), { numRuns: 1, seed: 42 }),
      endOnFailure: true,
    },
  )
  expect(reads).toBeGreaterThan(20)
})
