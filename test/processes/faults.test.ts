import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { AuditLog, type AuditLogError } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { postgresStore } from 'daybook/postgres'
import { sqliteJournal, sqliteStore } from 'daybook/sqlite'
import { faultyStore } from 'daybook/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresDatabase, type TestDatabase } from '../support/database.js'
import { type Place, type RoundTotals, runFaultRound, type Step } from '../support/fault-round.js'
import { TYPES } from '../support/observed-log.js'
import { memoryJournal } from '../unit/memory-journal.js'
import { SOAK_SECONDS, soakRounds, soakTimeout } from '../support/soak.js'
import { tempDir } from '../support/temp.js'

/* Many rounds of faults, several at a time. The message of a failure contains the seed; DAYBOOK_SEED repeats it. */
const SEED = Number(process.env['DAYBOOK_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const AT_A_TIME = 8

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      act: fc.constant('call' as const),
      type: fc.constantFrom(...TYPES),
      count: fc.integer({ min: 1, max: 15 }),
      isGivenUp: fc.constantFrom(false, false, false, true),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constantFrom('fail' as const, 'hang' as const, 'loseAcknowledgement' as const),
      method: fc.constantFrom('append' as const, 'append' as const, 'reportSuppressed' as const),
      times: fc.constantFrom(1, 2, 5, undefined),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('delay' as const),
      ms: fc.integer({ min: 1, max: 80 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ act: 'heal' as const }) },
  {
    weight: 5,
    arbitrary: fc.record({
      act: fc.constant('wait' as const),
      ms: fc.constantFrom(0, 0, 0, 1, 10, 30, 60),
    }),
  },
)

const steps = fc.array(step, { minLength: 20, maxLength: 100, size: 'max' })

/** Runs rounds, each in a new place. Returns the sums of their figures. */
async function runRounds(
  count: number,
  placeOf: (round: number) => Place,
  seed = SEED,
): Promise<Record<keyof RoundTotals, number>> {
  const sums = {
    calls: 0,
    stored: 0,
    suppressed: 0,
    rejected: 0,
    dropped: 0,
    journalled: 0,
    waiting: 0,
    late: 0,
  }
  const run = async (taken: readonly Step[], round: number): Promise<void> => {
    const totals = await runFaultRound(taken, placeOf(round), round % 2 ? 40 : 10_000).catch(
      (cause: unknown) => {
        const what = `DAYBOOK_SEED=${seed}, round ${round}: ${JSON.stringify(taken)}`
        throw new Error(what, { cause })
      },
    )
    for (const name of Object.keys(sums) as (keyof RoundTotals)[]) sums[name] += totals[name]
  }
  const rounds = fc.sample(steps, { seed, numRuns: count })
  for (let first = 0; first < count; first += AT_A_TIME)
    await Promise.all(
      rounds.slice(first, first + AT_A_TIME).map((taken, i) => run(taken, first + i)),
    )
  return sums
}

/** Runs rounds until the time is over; all kinds of outcomes must occur. */
async function expectRounds(count: number, placeOf: (round: number) => Place): Promise<void> {
  for (const times of soakRounds(1)) {
    const base = times * count
    const totals = await runRounds(count, (round) => placeOf(base + round), SEED + times)
    if (SOAK_SECONDS > 0) console.log(`${base + count} rounds from seed ${SEED}`, totals)
    const { waiting, late, ...others } = totals
    expect(waiting).toBe(0)
    // Every fourth round has no late call, so a few rounds may have none.
    if (count > 20) expect(late).toBeGreaterThan(0)
    for (const [name, sum] of Object.entries(others)) expect(sum, name).toBeGreaterThan(0)
  }
}

describe('a store fails, hangs and recovers', { timeout: soakTimeout(180_000) }, () => {
  it('in memory', () =>
    expectRounds(24, () => {
      const store = memoryStore()
      const journal = memoryJournal()
      return { openStore: () => ({ ...store, close: async () => {} }), openJournal: () => journal }
    }))

  it('on SQLite', async () => {
    const temp = tempDir()
    try {
      await expectRounds(12, (round) => ({
        openStore: () => sqliteStore({ filename: temp.file(`audit-${round}.db`) }),
        openJournal: () => sqliteJournal({ filename: temp.file(`journal-${round}.db`) }),
      }))
    } finally {
      temp.remove()
    }
  })

  describe('on Postgres', () => {
    let database: TestDatabase

    beforeAll(async () => {
      database = await postgresDatabase()
    })
    afterAll(() => database.remove())

    it('with a journal on this machine', async () => {
      const temp = tempDir()
      try {
        await expectRounds(12, (round) => ({
          openStore: () =>
            postgresStore({
              connectionString: database.url,
              schema: `faults_${round}`,
              partitions: 'none',
            }),
          openJournal: () => sqliteJournal({ filename: temp.file(`journal-${round}.db`) }),
        }))
      } finally {
        temp.remove()
      }
    })
  })
})

it('calls with the policy block settle by their deadline', async () => {
  const DEADLINE_MS = 50
  const store = faultyStore(memoryStore())
  const audit: AuditLog = new AuditLog({ store, types: {}, waiting: { deadlineMs: DEADLINE_MS } })
  const settled: (AuditLogError['code'] | 'stored')[] = []
  const waited: number[] = []
  // On one event loop the timer that is due first runs first, even on a slow machine.
  const watch = async (n: number): Promise<void> => {
    await delay(DEADLINE_MS + 100)
    for (let turn = 0; turn < 5; turn++) await nextTurn()
    if (settled[n] === undefined) waited.push(n)
  }
  const watching: Promise<void>[] = []
  for (let n = 0; n < 150; n++) {
    if (n % 50 === 10) store.hang('append')
    if (n % 50 === 40) store.heal()
    audit.recordCustom('test:call', { n }).then(
      () => (settled[n] = 'stored'),
      (error: AuditLogError) => (settled[n] = error.code),
    )
    watching.push(watch(n))
    await delay(n % 7)
  }
  await Promise.all(watching)
  expect(waited).toEqual([])
  expect(new Set(settled)).toEqual(new Set(['stored', 'DEADLINE_EXCEEDED']))
  await audit.close()
})
