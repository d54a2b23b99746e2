import { AuditLog, type EventStore } from 'daybook'
import { manualClock } from 'daybook/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { CleaningResult, CleaningRule } from '../../../src/cleaning/rule.js'
import { DAY, HOUR, MINUTE } from '../../../src/event/timestamp.js'
import { type ManualClock, STORES, type Stores } from './cleaning-stores.js'

const WEEK: CleaningRule = { target: 'events', maxAge: { days: 7 } }
const START = '2026-06-01T00:00:00.000000Z'

/** The outcomes of a run: for each rule the number of removed events, and whether the rule waits. */
const outcomes = (results: readonly CleaningResult[]): unknown[] =>
  results.map(
    ({ removed_count, skipped, error }) => error ?? [removed_count, skipped !== undefined],
  )

describe.each(['memory', 'sqlite'])('%s: rules by age', (kind) => {
  let stores: Stores
  let clock: ManualClock
  let first: EventStore
  const open: AuditLog[] = []

  const openLog = (store: EventStore, rules: readonly CleaningRule[] = [WEEK]): AuditLog => {
    const audit: AuditLog = new AuditLog({
      store,
      types: {},
      cleaning: { rules, scheduled: false },
    })
    open.push(audit)
    return audit
  }
  const closeAll = async (): Promise<void> => {
    for (const audit of open.splice(0)) await audit.close()
  }
  /** Starts a new process. Its clock is ahead of the previous clock by this time. */
  const restart = async (ahead: number, rules?: readonly CleaningRule[]): Promise<AuditLog> => {
    const now = clock() + ahead
    await closeAll()
    clock = manualClock(new Date(now / 1000).toISOString())
    return openLog(stores.another(clock), rules)
  }
  /** An event on each of 10 days. The process stays open. */
  const fill = async (rules?: readonly CleaningRule[]): Promise<AuditLog> => {
    const audit = openLog(first, rules)
    for (let day = 1; day <= 10; day++) {
      clock.advance(DAY)
      await audit.recordCustom('app:x', { day })
    }
    return audit
  }
  const daysLeft = async (audit: AuditLog): Promise<unknown[]> =>
    (await audit.list('filter[type_eq]=app:x&limit=100')).events.map(
      ({ attributes }) => attributes['day'],
    )
  const run = async (audit: AuditLog): Promise<unknown[]> => outcomes(await audit.cleaning.run())

  beforeAll(async () => {
    stores = await STORES[kind]!()
  })
  beforeEach(async () => {
    clock = manualClock(START)
    first = await stores.open(clock)
  })
  afterEach(closeAll)
  afterAll(() => stores.remove())

  it.each([29, 400])(
    'wait after a jump of %s days, until the clock is right again',
    async (days) => {
      const audit = await fill()
      clock.jump(days * DAY)
      const [preview] = await audit.cleaning.preview()
      expect(preview).toMatchObject({
        due_count: 0,
        skipped: expect.stringContaining('maxAge waits'),
      })
      // Later the store follows the clock, but the rule does not.
      for (const minutes of [0, 11, 60]) {
        clock.advance(minutes * MINUTE)
        expect(await run(audit)).toEqual([[0, true]])
      }
      const waiting = {
        clock_time: new Date(clock() / 1000).toISOString().replace('Z', '000Z'),
        expected_time: '2026-06-11T01:11:00.000000Z',
        until: new Date((clock() + 7 * DAY - 71 * MINUTE) / 1000)
          .toISOString()
          .replace('Z', '000Z'),
      }
      expect((await audit.cleaning.status()).rules).toMatchObject([{ name: 'events', waiting }])
      expect(await audit.health()).toMatchObject({
        status: 'warn',
        cleaning: { status: 'warn', waiting: [{ rule: 'events', ...waiting }] },
      })
      clock.jump(-days * DAY)
      expect(await run(audit)).toEqual([[3, false]])
      expect(await daysLeft(audit)).toEqual([4, 5, 6, 7, 8, 9, 10])
      expect((await audit.cleaning.status()).rules[0]).not.toHaveProperty('waiting')
      expect(await audit.health()).not.toHaveProperty('cleaning')
    },
  )

  it('wait for at most 7 days', async () => {
    const audit = await fill()
    clock.jump(29 * DAY)
    expect(await run(audit)).toEqual([[0, true]])
    clock.advance(7 * DAY - HOUR)
    expect(await run(audit)).toEqual([[0, true]])
    clock.advance(HOUR)
    expect(await run(audit)).toEqual([[10, false]])
  })

  it('go on after a jump of less than half of the age', async () => {
    const audit = await fill()
    clock.jump(3 * DAY)
    expect(await run(audit)).toEqual([[5, false]])
  })

  it('go on at once after acceptClock', async () => {
    const audit = await fill()
    clock.jump(29 * DAY)
    expect(await run(audit)).toEqual([[0, true]])
    audit.acceptClock()
    expect(await run(audit)).toEqual([[10, false]])
  })

  it('wait for half of its age each, and bounds of rows do not wait', async () => {
    const before: unknown[] = []
    const audit = await fill([
      { name: 'year', target: 'events', maxAge: { years: 1 } },
      { name: 'rows', target: 'events', maxAge: { days: 7 }, maxRows: 8 },
      { name: 'both', target: 'events', maxAge: { days: 7 } },
      {
        target: 'jobs',
        maxAge: { days: 7 },
        run: async (context) => before.push(context.before),
      },
    ])
    clock.jump(29 * DAY)
    expect(await audit.cleaning.preview()).toMatchObject([
      { name: 'year', due_count: 0 },
      { name: 'rows', due_count: 2, skipped: expect.any(String) },
      { name: 'both', due_count: 0, skipped: expect.any(String) },
      { name: 'jobs', due_count: 0, skipped: expect.any(String) },
    ])
    // An event reports the two removed events. So a third event is beyond the bound only later.
    expect(await run(audit)).toEqual([
      [0, false],
      [2, true],
      [0, true],
      [0, true],
    ])
    expect(await daysLeft(audit)).toHaveLength(8)
    expect(before).toEqual([])
  })

  it('remove nothing too early while the clock is behind, and continue when it is right', async () => {
    const audit = await fill()
    clock.jump(-400 * DAY)
    expect(await run(audit)).toEqual([[0, false]])
    clock.jump(400 * DAY)
    // For 10 minutes the store considers this a jump ahead.
    expect(await run(audit)).toEqual([[0, false]])
    clock.advance(11 * MINUTE)
    expect(await run(audit)).toEqual([[3, false]])
  })

  it('are not held up by a lease of a time that was wrong', async () => {
    const audit = await fill([{ ...WEEK, every: { days: 1 } }])
    clock.jump(29 * DAY)
    expect(outcomes(await audit.cleaning.runDue())).toEqual([[0, true]])
    clock.jump(-29 * DAY)
    expect(await audit.cleaning.runDue()).toEqual([])
    clock.advance(DAY)
    expect(outcomes(await audit.cleaning.runDue())).toEqual([[3, false]])
  })

  describe.skipIf(kind === 'memory')('in a process that starts', () => {
    it.each([10, 400])(
      'wait while the clock is %s days ahead of the newest event, also after events and restarts',
      async (days) => {
        await fill()
        const audit = await restart(days * DAY)
        void audit.recordCustom('app:x', { day: 'wrong' })
        expect(await run(audit)).toEqual([[0, true]])
        await audit.recordCustom('app:x', { day: 'wrong' })
        expect(await run(audit)).toEqual([[0, true]])
        for (let restarts = 0; restarts < 3; restarts++) {
          const next = await restart(HOUR)
          await next.recordCustom('app:x', { day: 'wrong' })
          expect(await run(next)).toEqual([[0, true]])
        }
        const right = await restart(-days * DAY)
        expect(await run(right)).toEqual([[3, false]])
        expect((await right.cleaning.status()).rules[0]).not.toHaveProperty('waiting')
      },
    )

    it('wait although another process has recorded events at the wrong time', async () => {
      const audit = await fill()
      expect(await run(audit)).toEqual([[2, false]])
      // This process has no rules. The log shows only its event, and the gap before the event.
      const other = await restart(10 * DAY, [])
      await other.recordCustom('app:x', { day: 'wrong' })
      expect(await run(await restart(MINUTE))).toEqual([[0, true]])
    })

    it('wait after a report of a process without rules, if no rule has run before', async () => {
      await fill([])
      const other = await restart(400 * DAY, [])
      await other.recordCustom('app:x', { day: 'wrong' })
      expect(await run(await restart(MINUTE))).toEqual([[0, true]])
    })

    it('continue if other processes have recorded events', async () => {
      const audit = await fill()
      expect(await run(audit)).toEqual([[2, false]])
      await restart(0, [])
      for (let day = 11; day <= 40; day++) {
        clock.advance(DAY)
        await open[0]!.recordCustom('app:x', { day })
      }
      // Including the event of the first run.
      expect(await run(await restart(0))).toEqual([[31, false]])
    })

    it('wait for 7 days in a log without events, also if the process starts daily', async () => {
      await fill()
      await restart(40 * DAY)
      for (let day = 0; day < 7; day++)
        expect(await run(await restart(day === 0 ? 0 : DAY))).toEqual([[0, true]])
      expect(await run(await restart(DAY))).toEqual([[10, false]])
    })

    it('wait longer if the clock jumps again between two starts', async () => {
      await fill()
      expect(await run(await restart(40 * DAY))).toEqual([[0, true]])
      for (let start = 0; start < 6; start++)
        expect(await run(await restart(400 * DAY))).toEqual([[0, true]])
    })

    it('go on in the process with the right clock, and after an acceptance in any', async () => {
      await fill()
      const wrongClock = manualClock(new Date((clock() + 400 * DAY) / 1000).toISOString())
      const wrong = openLog(stores.another(wrongClock))
      const right = openLog(stores.another(clock), [{ ...WEEK, maxAge: { days: 8 } }])
      expect(await run(wrong)).toEqual([[0, true]])
      expect(await run(right)).toEqual([[1, false]])
      expect(await run(wrong)).toEqual([[0, true]])
      const service = openLog(stores.another(wrongClock), [])
      service.acceptClock()
      await service.close()
      expect(await run(wrong)).toEqual([[9, false]])
    })
  })
})
