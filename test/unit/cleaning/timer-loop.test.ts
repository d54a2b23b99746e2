import { setImmediate as nextTurn } from 'node:timers/promises'
import type { EventStore, JsonValue } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { manualClock } from 'daybook/testing'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { CleaningRule } from '../../../src/cleaning/rule.js'
import { openWorld, type World } from '../../stores/shared/cleaning-world.js'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const START = '2026-06-01T00:00:00Z'

type ManualClock = ReturnType<typeof manualClock>

let time: ManualClock
let store: EventStore
/** Times at which the rule ran. */
let runs: string[]
let opened: World[]

beforeEach(() => {
  time = manualClock(START)
  store = memoryStore({ clock: time })
  runs = []
  opened = []
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
})

afterEach(async () => {
  for (const world of opened) await world.close()
  vi.useRealTimers()
})

const job = (schedule: Pick<CleaningRule, 'every' | 'at'>): CleaningRule => ({
  target: 'jobs',
  async run() {
    runs.push(new Date(time() / 1000).toISOString().slice(0, 16))
    return 0
  },
  ...schedule,
})

function open(store: EventStore, rules: readonly CleaningRule[]): World {
  const world = openWorld(store, { rules })
  opened.push(world)
  return world
}

/** The store without `close`, so that it stays open after a log is closed. */
const keptOpen = (): EventStore => ({ ...store, close: async () => {} })

/** Counts the checks whether the rule is due. */
function watched(given: EventStore): { readonly store: EventStore; checks: () => number } {
  let checks = 0
  return {
    checks: () => checks,
    store: {
      ...given,
      async updateState(key, change, options) {
        const value = await given.updateState(key, change, options)
        if (key === 'cleaning:jobs') checks++
        return value
      },
    },
  }
}

/** Advances the store's clock and the timers by `ms` milliseconds. */
async function pass(ms: number, step = MINUTE): Promise<void> {
  for (let passed = 0; passed < ms; passed += step) {
    time.advance(step * 1000)
    await vi.advanceTimersByTimeAsync(step)
    // Work that a timer has started ends within a few turns, because the store is in memory.
    for (let i = 0; i < 20; i++) await nextTurn()
  }
}

const stateOf = (): Promise<JsonValue | undefined> =>
  store.updateState('cleaning:jobs', (value) => value)

describe('a rule with an interval', () => {
  it('runs at once, and then at that interval from each start', async () => {
    open(store, [job({ every: { hours: 6 } })])
    await pass(13 * HOUR)
    expect(runs).toEqual(['2026-06-01T00:01', '2026-06-01T06:01', '2026-06-01T12:01'].map(late))
  })

  it('continues from the last run after a restart, and repeats at most one missed run', async () => {
    const first = open(keptOpen(), [job({ every: { hours: 6 } })])
    await pass(HOUR)
    await first.close()
    const second = open(keptOpen(), [job({ every: { hours: 6 } })])
    await pass(HOUR)
    expect(runs).toHaveLength(1)
    await second.close()
    time.advance(5 * DAY * 1000)
    open(store, [job({ every: { hours: 6 } })])
    await pass(HOUR)
    expect(runs).toHaveLength(2)
  })

  it('runs once per interval if several logs share the store', async () => {
    for (let i = 0; i < 3; i++) open(keptOpen(), [job({ every: { hours: 1 } })])
    await pass(2 * HOUR + 30 * MINUTE)
    expect(runs).toHaveLength(3)
  })

  it('may be longer than the longest timer', async () => {
    const { store: counted, checks } = watched(store)
    open(counted, [job({ every: { years: 1 } })])
    await pass(HOUR)
    const seen = checks()
    await pass(2 * DAY, 10 * MINUTE)
    expect(checks()).toBeGreaterThan(seen)
    // Every ten minutes, and a few more after other runs.
    expect(checks()).toBeLessThan(seen + 2 * 24 * 7)
    expect(runs).toHaveLength(1)
  })

  it('runs again soon after the log was closed during a run', async () => {
    let isEndless = true
    const rule: CleaningRule = {
      target: 'jobs',
      every: { days: 1 },
      run({ progress }) {
        runs.push('')
        progress(2)
        return isEndless ? new Promise(() => {}) : Promise.resolve(0)
      },
    }
    const world = open(keptOpen(), [rule])
    await pass(MINUTE)
    expect((await world.cleaning.status()).rules).toMatchObject([
      { running: true, nextRun: expect.stringContaining('2026-06-02') },
    ])
    await world.cleaning.close()
    expect(await world.cleaningEvents()).toMatchObject([{ attributes: { removed_count: 2 } }])
    expect(runs).toHaveLength(1)
    isEndless = false
    open(store, [rule])
    await pass(HOUR)
    expect(runs).toHaveLength(2)
  })

  it('is not delayed by a clock that was a year ahead', async () => {
    time.advance(365 * DAY * 1000)
    const world = open(keptOpen(), [job({ every: { hours: 1 } })])
    await pass(10 * MINUTE)
    await world.close()
    time.advance(-365 * DAY * 1000)
    const next = open(store, [job({ every: { hours: 1 } })])
    expect((await next.cleaning.status()).rules).toMatchObject([
      { nextRun: '2026-06-01T01:10:00.000000Z' },
    ])
    await pass(30 * MINUTE)
    expect(runs).toHaveLength(1)
    await pass(HOUR)
    expect(runs).toHaveLength(2)
  })

  it('tries again after a failure of the store', async () => {
    let isDown = true
    let attempts = 0
    const shaky: EventStore = {
      ...store,
      updateState(key, change, options) {
        attempts++
        if (isDown) return Promise.reject(new Error('down'))
        return store.updateState(key, change, options)
      },
    }
    open(shaky, [job({ every: { hours: 1 } })])
    await pass(5 * MINUTE)
    expect(attempts).toBeGreaterThan(4)
    expect(runs).toEqual([])
    isDown = false
    await pass(2 * MINUTE)
    expect(runs).toHaveLength(1)
  })
})

/** Runs are a little late, so that processes do not all check at once. */
function late(minute: string): unknown {
  return expect.stringMatching(new RegExp(`^${minute.slice(0, -1)}`))
}

describe('a rule with a time of day', () => {
  it('runs at that time in UTC, once a day', async () => {
    open(store, [job({ at: '03:30' })])
    await pass(3 * HOUR)
    expect(runs).toEqual([])
    await pass(2 * DAY, 5 * MINUTE)
    expect(runs).toEqual(['2026-06-01T03:30', '2026-06-02T03:30'].map(late))
  })

  it('makes up for a run without a process, even for the first', async () => {
    const world = open(keptOpen(), [job({ at: '03:30' })])
    await pass(10 * MINUTE)
    await world.close()
    time.advance(8 * HOUR * 1000)
    open(store, [job({ at: '03:30' })])
    await pass(10 * MINUTE)
    expect(runs).toEqual(['2026-06-01T08:1'].map((minute) => expect.stringContaining(minute)))
  })
})

describe('the lease of a rule', () => {
  const lease = (expiresIn: number): JsonValue => ({
    from: time() - 5_000_000,
    lease: {
      holder: 'another process',
      startedAt: time() - 5_000_000,
      expiresAt: time() + expiresIn * 1000,
      removedCount: 12,
    },
  })

  /** A rule that has removed three things, and goes on until the promise resolves. */
  const slow = (end: Promise<number>): CleaningRule => ({
    target: 'jobs',
    run({ progress }) {
      progress(3)
      return end
    },
  })

  it('keeps other processes from running it', async () => {
    const world = open(store, [job({}), { target: 'statistics' }])
    await store.updateState('cleaning:jobs', () => lease(30 * SECOND))
    await store.updateState('cleaning:statistics', () => lease(30 * SECOND))
    const skipped = 'another process is cleaning'
    expect(await world.cleaning.run()).toEqual([
      { name: 'jobs', target: 'jobs', removed_count: 0, skipped },
      { name: 'statistics', target: 'statistics', removed_count: 0, skipped },
    ])
    expect(runs).toEqual([])
    expect((await world.cleaning.status()).rules).toMatchObject([
      { running: true },
      { running: true },
    ])
    expect(await world.cleaningEvents()).toMatchObject([
      {
        type: 'info:data_cleanup:statistics',
        attributes: { analyzed_tables: [], skipped_reason: skipped },
      },
    ])
  })

  it('expires, and the next process records the lost run', async () => {
    const world = open(store, [job({ every: { days: 1 } })])
    await store.updateState('cleaning:jobs', () => lease(30 * SECOND))
    await pass(20 * SECOND, SECOND)
    expect(runs).toEqual([])
    await pass(MINUTE, SECOND)
    expect(runs).toHaveLength(1)
    expect(await world.cleaningEvents()).toMatchObject([
      {
        type: 'error:data_cleanup:jobs',
        attributes: {
          rule: 'jobs',
          error: expect.stringContaining('its process died'),
          removed_count: 12,
          started_at: '2026-05-31T23:59:55.000000Z',
        },
      },
    ])
    expect(await stateOf()).not.toHaveProperty('lease')
  })

  it('from before the clock was set back does not delay other processes', async () => {
    const world = open(store, [job({})])
    await store.updateState('cleaning:jobs', () => lease(DAY))
    expect((await world.cleaning.status()).rules).toMatchObject([{ running: false }])
    await world.cleaning.run()
    expect(runs).toHaveLength(1)
  })

  it('is renewed during the run', async () => {
    let finish = (): void => {}
    const world = open(store, [slow(new Promise((resolve) => (finish = () => resolve(9))))])
    const running = world.cleaning.run()
    await pass(5 * MINUTE, 5 * SECOND)
    expect(await world.cleaning.run()).toMatchObject([{ skipped: 'another process is cleaning' }])
    expect(await stateOf()).toMatchObject({ lease: { removedCount: 3 } })
    finish()
    expect(await running).toMatchObject([{ removed_count: 9 }])
    expect(await stateOf()).toMatchObject({ last: { removedCount: 9 } })
  })

  it('ends the run if another process has taken it', async () => {
    const world = open(store, [slow(new Promise(() => {}))])
    const running = world.cleaning.run()
    await pass(SECOND, SECOND)
    await store.updateState('cleaning:jobs', () => lease(30 * SECOND))
    await pass(20 * SECOND, SECOND)
    const error = 'cleaning rule jobs: another process has taken the lease'
    expect(await running).toEqual([{ name: 'jobs', target: 'jobs', removed_count: 3, error }])
    expect(await world.cleaningEvents()).toMatchObject([
      { type: 'error:data_cleanup:jobs', attributes: { error, removed_count: 3 } },
    ])
    // The other process still has the lease.
    expect(await stateOf()).toMatchObject({ lease: { holder: 'another process' } })
  })

  it('ends the run if it could not be renewed before it expired', async () => {
    let isDown = false
    const shaky: EventStore = {
      ...store,
      updateState: (key, change, options) =>
        isDown ? Promise.reject(new Error('down')) : store.updateState(key, change, options),
    }
    const world = open(shaky, [{ target: 'jobs', run: () => new Promise(() => {}) }])
    const began = performance.now()
    const now = vi.spyOn(performance, 'now').mockReturnValue(began)
    const running = world.cleaning.run()
    await pass(SECOND, SECOND)
    isDown = true
    now.mockReturnValue(began + 29_000)
    await pass(15 * SECOND, SECOND)
    now.mockReturnValue(began + 31_000)
    await pass(15 * SECOND, SECOND)
    now.mockRestore()
    isDown = false
    expect(await running).toMatchObject([{ error: expect.stringContaining('taken the lease') }])
  })
})

describe('without rules', () => {
  it('suppressed calls are recorded every hour', async () => {
    const world = open(store, [])
    const report = (number: number): Promise<void> => {
      const [first, last] = [time(), time()]
      const counts = [{ key: 'a', type: 'a', scope: {}, period: 1_000_000, count: 1, first, last }]
      return store.reportSuppressed({ reporter: 'r', number, counts })
    }
    await report(1)
    await pass(30 * MINUTE)
    expect(await world.all()).toEqual([])
    await pass(HOUR)
    expect(await world.all()).toHaveLength(1)
    await report(2)
    await pass(2 * HOUR)
    expect(await world.all()).toHaveLength(2)
  })
})
