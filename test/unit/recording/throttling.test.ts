import { setTimeout as delay } from 'node:timers/promises'
import {
  AuditLog,
  type AuditLogOptions,
  defineEventTypes,
  type EventStore,
  formatTimestamp,
} from 'daybook'
import { memoryStore } from 'daybook/memory'
import { faultyStore, type ManualClock, manualClock } from 'daybook/testing'
import { workflowEventTypes } from 'daybook/workflow'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'

const HOUR = 3_600_000_000

const types = defineEventTypes({
  'warn:disk:full': { throttle: { period: { hours: 1 } } },
  'warn:slot:full': { throttle: { period: { hours: 1 }, scope: ['cluster', 'pool'] } },
  'info:plain:event': {},
})

interface Rig {
  readonly audit: AuditLog<typeof types>
  readonly clock: ManualClock
  readonly store: EventStore
  /** Number of appends. */
  readonly appends: () => number
}

function rig(
  options: Partial<AuditLogOptions<typeof types>> = {},
  clock = manualClock(),
  given: EventStore = memoryStore({ clock }),
): Rig {
  let appends = 0
  const store: EventStore = {
    ...given,
    append: (...call) => {
      appends++
      return given.append(...call)
    },
  }
  const audit = new AuditLog({ store, types, ...options })
  onTestFinished(() => audit.close())
  return { audit, clock, store, appends: () => appends }
}

afterEach(() => void vi.useRealTimers())

describe('a throttled type', () => {
  it('is stored once per period, counted from the last stored event', async () => {
    const { audit, clock } = rig()
    const first = await audit.record('warn:disk:full')
    expect(first).toBeDefined()
    clock.advance(HOUR - 1)
    expect(await audit.record('warn:disk:full')).toBeUndefined()
    clock.advance(1)
    const next = await audit.record('warn:disk:full')
    expect(next).toBeDefined()
    clock.advance(HOUR - 1)
    expect(await audit.record('warn:disk:full')).toBeUndefined()
    expect(audit.stats()).toMatchObject({ calls: 4, stored: 2, suppressed: 2, waiting: 0 })
  })

  it('the next stored event says how many calls were suppressed, and since when', async () => {
    const { audit, clock } = rig()
    await audit.record('warn:disk:full')
    clock.advance(5)
    const since = formatTimestamp(clock())
    for (let i = 0; i < 7; i++) await audit.record('warn:disk:full')
    clock.advance(HOUR)
    const next = await audit.record('warn:disk:full', { message: 'full' })
    expect(next!.attributes).toEqual({
      message: 'full',
      suppressed_count: 7,
      suppressed_since: since,
    })
    clock.advance(HOUR)
    const last = await audit.record('warn:disk:full')
    expect(last!.attributes).toEqual({})
  })

  it('accesses the store once per period', async () => {
    const { audit, clock, appends } = rig()
    for (let i = 0; i < 100; i++) await audit.record('warn:disk:full')
    expect(appends()).toBe(1)
    clock.advance(HOUR)
    for (let i = 0; i < 100; i++) await audit.record('warn:disk:full')
    expect(appends()).toBe(2)
  })

  it('is suppressed while the first event is in flight', async () => {
    const { audit, appends } = rig()
    const calls = await Promise.all(
      Array.from({ length: 1000 }, () => audit.record('warn:disk:full')),
    )
    expect(calls.filter((event) => event !== undefined)).toHaveLength(1)
    expect(calls[0]).toBeDefined()
    expect(appends()).toBe(1)
    expect(audit.stats()).toMatchObject({ stored: 1, suppressed: 999 })
  })

  it('is tried again after the first event failed', async () => {
    const store = faultyStore(memoryStore())
    const { audit } = rig({}, manualClock(), store)
    store.fail('append', 1)
    const [first, second] = [audit.record('warn:disk:full'), audit.record('warn:disk:full')]
    await expect(first).rejects.toMatchObject({ code: 'STORE_FAILED' })
    expect(await second).toBeUndefined()
    const third = await audit.record('warn:disk:full')
    expect(third!.attributes['suppressed_count']).toBe(1)
  })

  it('has a separate period for each value of its scope', async () => {
    const { audit } = rig()
    const record = (cluster: unknown, pool: unknown): Promise<unknown> =>
      audit.record('warn:slot:full', { cluster, pool })
    const values = ['a', 'b', 'ä"\n', '', 'x'.repeat(5000), `${'x'.repeat(5000)}y`, 1, '1', true]
    for (const cluster of values)
      for (const pool of [null, 'p', { deep: [1] }]) {
        expect(await record(cluster, pool)).toBeDefined()
        expect(await record(cluster, pool)).toBeUndefined()
      }
    expect(await record(undefined, undefined)).toBeDefined()
    // A missing value counts as null.
    expect(await record(null, undefined)).toBeUndefined()
  })

  it('distinguishes scope values with equal text', async () => {
    const { audit } = rig()
    expect(await audit.record('warn:slot:full', { cluster: 'a"\n"b', pool: 'c' })).toBeDefined()
    expect(await audit.record('warn:slot:full', { cluster: 'a', pool: 'b"\n"c' })).toBeDefined()
  })

  it('works with data whose getters throw', async () => {
    const { audit } = rig()
    const data = {
      get cluster(): string {
        throw new Error('no')
      },
    }
    expect(await audit.record('warn:slot:full', data)).toBeDefined()
    expect(await audit.record('warn:slot:full', data)).toBeUndefined()
  })

  it('is not affected by custom events of the same type', async () => {
    const { audit } = rig()
    expect(await audit.recordCustom('warn:disk:full')).toBeDefined()
    expect(await audit.record('warn:disk:full')).toBeDefined()
    expect(await audit.recordCustom('warn:disk:full')).toBeDefined()
    expect(await audit.recordCustom('warn:disk:full')).toBeDefined()
  })

  it('counts nothing while its type is disabled', async () => {
    let isOn = true
    const clock = manualClock()
    const audit = new AuditLog({
      store: memoryStore({ clock }),
      types: { 'warn:disk:full': { throttle: { period: { hours: 1 } }, enabled: () => isOn } },
    })
    onTestFinished(() => audit.close())
    await audit.record('warn:disk:full')
    isOn = false
    await audit.record('warn:disk:full')
    isOn = true
    clock.advance(HOUR)
    const next = await audit.record('warn:disk:full')
    expect(next!.attributes).toEqual({})
    expect(audit.stats()).toMatchObject({ calls: 3, stored: 2, suppressed: 1 })
  })

  it('also applies to recordSystem', async () => {
    const { audit } = rig()
    expect(await audit.recordSystem('warn:disk:full')).toBeDefined()
    expect(await audit.recordSystem('warn:disk:full')).toBeUndefined()
  })
})

describe('the period', () => {
  it('can be set by the host', async () => {
    const { audit, clock } = rig({
      throttles: { 'warn:disk:full': { minutes: 1 }, 'warn:slot:full': false },
    })
    expect(await audit.record('warn:disk:full')).toBeDefined()
    clock.advance(HOUR / 60)
    expect(await audit.record('warn:disk:full')).toBeDefined()
    const slot = { cluster: 'a', pool: 'b' }
    expect(await audit.record('warn:slot:full', slot)).toBeDefined()
    expect(await audit.record('warn:slot:full', slot)).toBeDefined()
  })

  it('can be added to a type without a throttle', async () => {
    const { audit } = rig({ throttles: { 'info:plain:event': { days: 1 } } })
    expect(await audit.record('info:plain:event')).toBeDefined()
    expect(await audit.record('info:plain:event')).toBeUndefined()
  })

  it.each([
    [{ 'no:such:type': { hours: 1 } }, 'throttles.no:such:type is not in the registry'],
    [{ 'warn:disk:full': { hours: -1 } }, 'throttles.warn:disk:full must be a date-fns Duration'],
    [{ 'warn:disk:full': 60 }, 'throttles.warn:disk:full must be a date-fns Duration'],
    [{ 'warn:disk:full': {} }, 'throttles.warn:disk:full must be a date-fns Duration'],
  ])('is rejected: %j', (throttles, message) => {
    const make = (): AuditLog => new AuditLog({ store: memoryStore(), types, throttles } as never)
    expect(make).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
    expect(make).toThrow(message)
  })

  it('is by cluster and pool for resource slot pools', async () => {
    const audit = new AuditLog({
      store: memoryStore(),
      types: workflowEventTypes,
      throttles: { 'warn:resource_slot_pool:full': { minutes: 10 } },
    })
    onTestFinished(() => audit.close())
    const record = (cluster: string, pool: string): Promise<unknown> =>
      audit.record('warn:resource_slot_pool:full', { cluster, pool, configured_limit: 2 })
    expect(await record('a', 'p')).toBeDefined()
    expect(await record('a', 'q')).toBeDefined()
    expect(await record('b', 'p')).toBeDefined()
    expect(await record('a', 'p')).toBeUndefined()
  })
})

describe('after the clock is set', () => {
  it('back keeps a throttle closed for at most one period', async () => {
    const { audit, clock } = rig()
    await audit.record('warn:disk:full')
    clock.advance(-24 * HOUR)
    expect(await audit.record('warn:disk:full')).toBeUndefined()
    clock.advance(HOUR - 1)
    expect(await audit.record('warn:disk:full')).toBeUndefined()
    clock.advance(1)
    expect(await audit.record('warn:disk:full')).toBeDefined()
  })

  it('forward opens it once', async () => {
    const { audit, clock } = rig()
    await audit.record('warn:disk:full')
    clock.advance(24 * HOUR)
    expect(await audit.record('warn:disk:full')).toBeDefined()
    clock.advance(-24 * HOUR)
    for (let minutes = 0; minutes < 60; minutes += 10) {
      expect(await audit.record('warn:disk:full')).toBeUndefined()
      clock.advance(HOUR / 6)
    }
    expect(await audit.record('warn:disk:full')).toBeDefined()
  })
})

describe('counts of suppressed calls', () => {
  it('of several logs on one store are added up', async () => {
    const clock = manualClock()
    const store = memoryStore({ clock })
    const [one, two] = [rig({}, clock, store), rig({}, clock, store)]
    expect(await one.audit.record('warn:disk:full')).toBeDefined()
    for (let i = 0; i < 5; i++) await one.audit.record('warn:disk:full')
    for (let i = 0; i < 3; i++) await two.audit.record('warn:disk:full')
    await two.audit.flush()
    clock.advance(HOUR)
    const next = await one.audit.record('warn:disk:full')
    expect(next!.attributes['suppressed_count']).toBe(8)
  })

  it('are reported by flush, also with a long deadline', async () => {
    const clock = manualClock()
    const store = memoryStore({ clock })
    const slow: EventStore = {
      ...store,
      reportSuppressed: async (report, options) => {
        await delay(20)
        await store.reportSuppressed(report, options)
      },
    }
    const patient = rig({ waiting: { deadlineMs: 2 ** 40 } }, clock, slow)
    await patient.audit.record('warn:disk:full')
    await patient.audit.record('warn:disk:full')
    await patient.audit.flush()
    clock.advance(HOUR)
    const next = await rig({}, clock, store).audit.record('warn:disk:full')
    expect(next!.attributes['suppressed_count']).toBe(1)
  })

  it('are reported to the store once a second', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const reports: number[] = []
    const memory = memoryStore()
    const { audit } = rig({}, manualClock(), {
      ...memory,
      reportSuppressed: (report, options) => {
        reports.push(report.counts.reduce((sum, { count }) => sum + count, 0))
        return memory.reportSuppressed(report, options)
      },
    })
    for (let i = 0; i < 5; i++) await audit.record('warn:disk:full')
    await vi.advanceTimersByTimeAsync(999)
    expect(reports).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(reports).toEqual([4])
    for (let i = 0; i < 3; i++) await audit.record('warn:disk:full')
    await vi.advanceTimersByTimeAsync(1000)
    expect(reports).toEqual([4, 3])
    await vi.advanceTimersByTimeAsync(5000)
    expect(reports).toEqual([4, 3])
  })

  it('are reported again with the same number after a failure', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const clock = manualClock()
    const store = faultyStore(memoryStore({ clock }))
    const { audit } = rig({}, clock, store)
    for (let i = 0; i < 5; i++) await audit.record('warn:disk:full')
    store.loseAcknowledgement('reportSuppressed', 2)
    await vi.advanceTimersByTimeAsync(1000)
    await audit.record('warn:disk:full')
    await vi.advanceTimersByTimeAsync(10_000)
    await audit.flush()
    clock.advance(HOUR)
    const next = await audit.record('warn:disk:full')
    expect(next!.attributes['suppressed_count']).toBe(5)
  })

  it('delay neither a call beyond its deadline nor close while they are reported', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const faulty = faultyStore(memoryStore())
    const signals: (AbortSignal | undefined)[] = []
    const store: EventStore = {
      ...faulty,
      reportSuppressed(report, options) {
        signals.push(options?.signal)
        return faulty.reportSuppressed(report, options)
      },
    }
    const { audit } = rig({ waiting: { deadlineMs: 100 } }, manualClock(), store)
    for (let i = 0; i < 2; i++) await audit.record('warn:disk:full')
    faulty.hang('reportSuppressed')
    await vi.advanceTimersByTimeAsync(1000)
    expect(signals).toHaveLength(1)
    const calls = [audit.record('info:plain:event'), audit.record('warn:slot:full')]
    const settled = Promise.allSettled(calls)
    await vi.advanceTimersByTimeAsync(100)
    for (const { status } of await settled) expect(status).toBe('rejected')
    expect(signals[0]?.aborted).toBe(false)
    vi.useRealTimers()
    await audit.close()
    expect(signals[0]?.aborted).toBe(true)
  })

  it('are recorded by the cleaning run if no further event comes', async () => {
    const { audit, clock } = rig()
    await audit.record('warn:slot:full', { cluster: 'a', pool: 'b' })
    clock.advance(10)
    for (let i = 0; i < 4; i++) await audit.record('warn:slot:full', { cluster: 'a', pool: 'b' })
    await audit.flush()
    await audit.cleaning.run()
    expect((await audit.list('filter[type_eq]=warn:audit_log:gap')).events).toEqual([])
    clock.advance(2 * HOUR)
    await audit.cleaning.run()
    const { events } = await audit.list('filter[type_eq]=warn:audit_log:gap')
    expect(events).toHaveLength(1)
    expect(events[0]!.attributes).toMatchObject({
      count: 4,
      losses: [
        {
          type: 'warn:slot:full',
          reason: 'throttled',
          scope: { cluster: 'a', pool: 'b' },
          count: 4,
        },
      ],
    })
    await audit.cleaning.run()
    expect((await audit.list('filter[type_eq]=warn:audit_log:gap')).events).toHaveLength(1)
    const next = await audit.record('warn:slot:full', { cluster: 'a', pool: 'b' })
    expect(next!.attributes).not.toHaveProperty('suppressed_count')
  })
})
