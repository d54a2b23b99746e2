import { type AuditEvent, AuditLog, AuditLogError, type EventStore } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { sqliteStore } from 'daybook/sqlite'
import { faultyStore, type ManualClock, manualClock } from 'daybook/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { CleaningOptions, CleaningRule, LegalHold } from '../../../src/cleaning/rule.js'
import { plainDraft } from '../../support/plain-events.js'
import { tempDir } from '../../support/temp.js'
import { openWorld, type World } from '../../stores/shared/cleaning-world.js'

const HOUR = 3_600_000_000
const DAY = 24 * HOUR

const clock = (): ManualClock => manualClock('2026-06-01T00:00:00Z')

const opened: World[] = []

function open(store: EventStore, options?: CleaningOptions): World {
  const world = openWorld(store, options)
  opened.push(world)
  return world
}

afterEach(async () => {
  vi.useRealTimers()
  for (const world of opened.splice(0)) await world.close()
})

/** Imports one numbered event per day. The last event is recorded now. */
async function fill({ audit }: World, time: ManualClock, days = 10): Promise<void> {
  for (let day = 1; day <= days; day++) {
    time.advance(DAY)
    await audit.recordCustom(day % 2 === 0 ? 'even' : 'odd', { day })
  }
}

/** A log with one numbered event a day. */
async function openFilled(days: number, options: CleaningOptions): Promise<World> {
  const time = clock()
  const world = open(memoryStore({ clock: time }), options)
  await fill(world, time, days)
  return world
}

const days = (events: readonly AuditEvent[]): unknown[] =>
  events.filter(({ system }) => !system).map(({ attributes }) => attributes['day'])

describe('a run', () => {
  it('removes older events, and records that', async () => {
    const world = await openFilled(10, {
      rules: [{ target: 'events', maxAge: { days: 4 } }],
    })
    expect(await world.cleaning.run()).toEqual([
      { name: 'events', target: 'events', removed_count: 5, before: '2026-06-07T00:00:00.000000Z' },
    ])
    expect(days(await world.all())).toEqual([6, 7, 8, 9, 10])
    expect(await world.cleaningEvents()).toMatchObject([
      {
        type: 'info:data_cleanup:events',
        system: true,
        attributes: {
          rule: 'events',
          filters: { max_age: { days: 4 } },
          removed_count: 5,
          before: '2026-06-07T00:00:00.000000Z',
        },
      },
    ])
  })

  it('with a filter removes and counts only matching events', async () => {
    const rule: CleaningRule = {
      name: 'two even',
      target: 'events',
      filter: 'filter[type_eq]=even',
      maxRows: 2,
    }
    const world = await openFilled(10, { rules: [rule] })
    const [result] = await world.cleaning.run()
    expect(result).toMatchObject({ name: 'two even', removed_count: 3 })
    expect(days(await world.all())).toEqual([1, 3, 5, 7, 8, 9, 10])
  })

  it('records no event if nothing was due', async () => {
    const world = await openFilled(10, {
      rules: [
        { name: 'a', target: 'events', maxRows: 10 },
        { name: 'b', target: 'events', maxBytes: 1000, filter: 'filter[day_present]=1' },
        { name: 'c', target: 'jobs', run: async () => 0 },
      ],
    })
    const results = await world.cleaning.run()
    expect(results.map(({ removed_count }) => removed_count)).toEqual([0, 0, 0])
    expect(await world.cleaningEvents()).toEqual([])
  })

  it('keeps events on hold, which still count towards maxRows', async () => {
    let holds = 0
    const world = await openFilled(10, {
      rules: [{ target: 'events', maxRows: 3 }],
      async holds() {
        holds++
        return [{ filter: 'filter[day_in][]=2&filter[day_in][]=9' }]
      },
    })
    const [result] = await world.cleaning.run()
    expect(result).toMatchObject({ removed_count: 6 })
    expect(days(await world.all())).toEqual([2, 8, 9, 10])
    expect(holds).toBe(1)
  })

  it.each<[string, unknown, string]>([
    ['are not returned', undefined, 'holds must be a list'],
    ['have a blank value', [{ filter: { filter: { tenant_eq: '' } } }], 'legal hold 0: filter: fi'],
    ['have no filter', [{ name: 'a' }], 'legal hold a: filter has no condi'],
    ['have a misspelt filter', [{ filters: 'filter[tenant_eq]=a' }], 'did you mean filter?'],
  ])('removes nothing if the holds %s', async (_, holds, error) => {
    const world = open(memoryStore(), {
      rules: [{ target: 'events', maxRows: 0 }],
      holds: () => holds as LegalHold[],
    })
    await world.audit.recordCustom('even')
    expect(await world.cleaning.run()).toMatchObject([
      { removed_count: 0, error: expect.stringContaining(error) },
    ])
  })

  it('removes nothing if the holds cannot be read, and records the error', async () => {
    const world = await openFilled(3, {
      rules: [{ target: 'events', maxRows: 0 }],
      holds: () => Promise.reject(new Error('the holds cannot be read')),
    })
    expect(await world.cleaning.run()).toEqual([
      { name: 'events', target: 'events', removed_count: 0, error: 'the holds cannot be read' },
    ])
    expect(days(await world.all())).toEqual([1, 2, 3])
    expect(await world.cleaningEvents()).toMatchObject([
      {
        type: 'error:data_cleanup:events',
        attributes: {
          rule: 'events',
          error: 'the holds cannot be read',
          backtrace: expect.stringContaining('the holds cannot be read'),
          removed_count: 0,
        },
      },
    ])
  })

  it('keeps events that are recorded during the run, and events that are beyond maxRows because of them', async () => {
    const world: World = await openFilled(10, {
      rules: [
        {
          target: 'events',
          maxRows: 3,
          archive: async () => void (await world.audit.recordCustom('meanwhile', { day: 'new' })),
        },
      ],
    })
    expect(await world.cleaning.run()).toMatchObject([{ removed_count: 7 }])
    expect(days(await world.all())).toEqual([8, 9, 10, 'new'])
  })

  it('keeps open live events in every kind of run', async () => {
    const time = clock()
    const store = memoryStore({ clock: time })
    const archived: AuditEvent[] = []
    const world = open(store, {
      rules: [
        { name: 'plain', target: 'events', maxRows: 0 },
        { name: 'filtered', target: 'events', maxRows: 0, filter: 'filter[day_present]=1' },
        {
          name: 'archived',
          target: 'events',
          maxRows: 0,
          archive: async (events) => void archived.push(...events),
        },
      ],
    })
    const [live] = await store.append([
      plainDraft({ attributes: { day: 0 }, system: false, live: true }),
    ])
    await fill(world, time, 2)
    expect(await world.cleaning.preview({ rules: ['filtered'] })).toMatchObject([{ due_count: 2 }])
    expect(await world.cleaning.run()).toMatchObject([
      { removed_count: 2 },
      { removed_count: 0 },
      // The event that the first rule recorded.
      { removed_count: 1, archived_count: 1 },
    ])
    expect(days(await world.all())).toEqual([0])
    await store.closeLive(live!.id, { revision: 1 })
    expect(await world.cleaning.run({ rules: ['filtered'] })).toMatchObject([{ removed_count: 1 }])
    expect(archived.map(({ type }) => type)).toEqual(['info:data_cleanup:events'])
  })

  it('first records suppressed calls, even without rules', async () => {
    const time = clock()
    const store = memoryStore({ clock: time })
    const world = open(store, { rules: [{ target: 'jobs', run: async () => 1 }] })
    const holdBack = async (number: number): Promise<void> => {
      const [first, last] = [time(), time()]
      const counts = [{ key: 'a', type: 'warn:a', scope: {}, period: HOUR, count: 7, first, last }]
      await store.reportSuppressed({ reporter: 'r', number, counts })
      time.advance(DAY)
    }
    const types = async (): Promise<string[]> => (await world.all()).map(({ type }) => type)
    await holdBack(1)
    await world.cleaning.run()
    expect(await types()).toEqual(['warn:audit_log:gap', 'info:data_cleanup:jobs'])
    await holdBack(2)
    expect(await world.cleaning.run({ rules: [] })).toEqual([])
    expect(await world.cleaning.run({ rules: [] })).toEqual([])
    expect((await types()).slice(2)).toEqual(['warn:audit_log:gap'])
  })

  it('continues with the other rules if one fails', async () => {
    const world = await openFilled(2, {
      rules: [
        {
          target: 'jobs',
          filters: { state: 'done' },
          async run({ progress }) {
            progress(4)
            throw new TypeError('no such queue')
          },
        },
        { target: 'events', maxRows: 1 },
      ],
    })
    expect(await world.cleaning.run()).toMatchObject([
      { name: 'jobs', removed_count: 4, error: 'no such queue' },
      // The event of the failure is the newest.
      { name: 'events', removed_count: 2 },
    ])
    expect(await world.cleaningEvents()).toMatchObject([
      {
        type: 'error:data_cleanup:jobs',
        attributes: {
          rule: 'jobs',
          filters: { state: 'done' },
          removed_count: 4,
          error: 'no such queue',
          backtrace: expect.stringContaining('TypeError'),
        },
      },
      { type: 'info:data_cleanup:events' },
    ])
  })

  it('runs rules of the host', async () => {
    const time = clock()
    const contexts: unknown[] = []
    const world = open(memoryStore({ clock: time }), {
      rules: [
        {
          name: 'images',
          target: 'agent_images',
          maxAge: { months: 1 },
          async run({ before, preview }) {
            contexts.push({ before, preview })
            return { removed_count: 3, filters: { unused: true } }
          },
        },
      ],
    })
    expect(await world.cleaning.preview()).toEqual([
      {
        name: 'images',
        target: 'agent_images',
        removed_count: 0,
        due_count: 3,
        before: '2026-05-01T00:00:00.000000Z',
      },
    ])
    expect(await world.cleaningEvents()).toEqual([])
    await world.cleaning.run()
    const before = '2026-05-01T00:00:00.000000Z'
    expect(contexts).toEqual([
      { before, preview: true },
      { before, preview: false },
    ])
    expect(await world.cleaningEvents()).toMatchObject([
      {
        type: 'info:data_cleanup:agent_images',
        attributes: { rule: 'images', removed_count: 3, filters: { unused: true }, before },
      },
    ])
  })

  it('records removed_count and filters for every target', async () => {
    const run = (): Promise<number> => Promise.resolve(1)
    const world = open(memoryStore(), {
      rules: [
        { target: 'jobs', run },
        { target: 'images', maxAge: { months: 1 }, run },
        { target: 'statistics' },
        { target: 'tasks', run: () => Promise.reject(new Error('no')) },
      ],
    })
    await world.cleaning.run()
    expect((await world.cleaningEvents()).map(({ attributes }) => attributes)).toMatchObject([
      { removed_count: 1, filters: {} },
      { removed_count: 1, filters: { max_age: { months: 1 } } },
      { removed_count: 0, filters: {} },
      { removed_count: 0, filters: {} },
    ])
  })

  it('fails if the host does not return the number it removed', async () => {
    const run = (): Promise<number> => Promise.resolve(undefined as unknown as number)
    const world = open(memoryStore(), { rules: [{ target: 'jobs', run }] })
    expect(await world.cleaning.run()).toMatchObject([
      { removed_count: 0, error: 'run must resolve to the number of removed things' },
    ])
  })

  it('always records a statistics run', async () => {
    const store = memoryStore()
    const table = { table: 'jobs', rows_before: null, rows_after: 5 }
    const common = { rule: 'statistics', filters: {}, removed_count: 0 }
    const world = open(store, { rules: [{ target: 'statistics' }] })
    const skipped = 'the memory store has no query planner'
    expect(await world.cleaning.run()).toMatchObject([{ removed_count: 0, skipped }])
    const planned = open(
      { ...store, analyze: async () => ({ analyzed_tables: [table] }) },
      { rules: [{ target: 'statistics' }] },
    )
    await planned.cleaning.run()
    expect(
      (await world.cleaningEvents()).map(({ type, attributes }) => [type, attributes]),
    ).toEqual([
      ['info:data_cleanup:statistics', { ...common, analyzed_tables: [], skipped_reason: skipped }],
      ['info:data_cleanup:statistics', { ...common, analyzed_tables: [table] }],
    ])
  })

  it('reports its progress, even if a listener throws', async () => {
    const time = clock()
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {})
    const steps: unknown[] = []
    const world = open(memoryStore({ clock: time }), {
      rules: [{ target: 'events', maxRows: 1, archive: async () => {} }],
      onProgress() {
        throw new Error('listener')
      },
    })
    await fill(world, time, 5)
    await world.cleaning.run({ onProgress: (progress) => void steps.push(progress) })
    expect(steps).toEqual([{ rule: 'events', removed_count: 4, archived_count: 4 }])
    expect(warned).toHaveBeenCalledOnce()
    warned.mockRestore()
  })

  it('ends between two pages when it is aborted, and records the number of removed events', async () => {
    const time = clock()
    const abort = new AbortController()
    const world = open(memoryStore({ clock: time }), {
      rules: [{ target: 'events', maxRows: 0, filter: 'filter[n_gteq]=0' }],
    })
    for (let n = 0; n < 500; n++) void world.audit.recordCustom('n', { n })
    await world.audit.flush()
    const running = world.cleaning.run({
      signal: abort.signal,
      onProgress: () => abort.abort(),
    })
    await expect(running).rejects.toMatchObject({ code: 'ABORTED' })
    expect(await world.cleaningEvents()).toMatchObject([
      { type: 'info:data_cleanup:events', attributes: { removed_count: 200 } },
    ])
    expect(await world.all()).toHaveLength(301)
    const { rules } = await world.cleaning.status()
    expect(rules).toMatchObject([
      { running: false, lastRun: { removed_count: 200, error: 'aborted' } },
    ])
    await expect(world.cleaning.run({ signal: abort.signal })).rejects.toMatchObject({
      code: 'ABORTED',
    })
  })

  it('rejects unknown rule names', async () => {
    const world = open(memoryStore(), { rules: [{ target: 'statistics' }] })
    await expect(world.cleaning.run({ rules: ['events'] })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: 'there is no cleaning rule events',
    })
  })

  it('filters events itself if the query of the store times out', async () => {
    const time = clock()
    const memory = memoryStore({ clock: time })
    let refused = 0
    const store: EventStore = {
      ...memory,
      list(query, options) {
        const asksForDay = JSON.stringify(query.where ?? {}).includes('"day"')
        if (!asksForDay) return memory.list(query, options)
        refused++
        return Promise.reject(new AuditLogError('QUERY_TIMEOUT', 'that takes too long'))
      },
      excess: () => Promise.reject(new AuditLogError('QUERY_TIMEOUT', 'that takes too long')),
    }
    const world = open(store, {
      rules: [
        {
          name: 'some',
          target: 'events',
          filter: 'filter[day_in][]=1&filter[day_in][]=2',
          maxRows: 1,
        },
        { name: 'all', target: 'events', maxRows: 2 },
      ],
      holds: [{ filter: 'filter[day_eq]=3' }],
    })
    await fill(world, time, 5)
    await world.cleaning.run({ rules: ['some'] })
    expect(refused).toBe(2)
    expect(days(await world.all())).toEqual([2, 3, 4, 5])
    await world.cleaning.run({ rules: ['all'] })
    // The two newest are the last event and the event of the first run.
    expect(days(await world.all())).toEqual([3, 5])
  })
})

describe('a preview', () => {
  it('returns the due events, and removes nothing', async () => {
    const world = await openFilled(10, {
      rules: [
        { name: 'all', target: 'events', maxAge: { days: 4 } },
        { name: 'some', target: 'events', maxRows: 1, filter: 'filter[type_eq]=odd' },
        { name: 'none', target: 'events', maxRows: 100 },
        { target: 'statistics' },
      ],
    })
    const stored = await world.all()
    const at = (day: number): string => stored[day - 1]!.created_at
    expect(await world.cleaning.preview()).toEqual([
      {
        name: 'all',
        target: 'events',
        removed_count: 0,
        due_count: 5,
        oldest_due: at(1),
        newest_due: at(5),
        before: '2026-06-07T00:00:00.000000Z',
      },
      {
        name: 'some',
        target: 'events',
        removed_count: 0,
        due_count: 4,
        oldest_due: at(1),
        newest_due: at(7),
        before: at(9),
      },
      {
        name: 'none',
        target: 'events',
        removed_count: 0,
        due_count: 0,
        oldest_due: null,
        newest_due: null,
      },
      { name: 'statistics', target: 'statistics', removed_count: 0, due_count: 0 },
    ])
    expect(await world.all()).toEqual(stored)
    const [all, some] = await world.cleaning.run()
    expect([all!.removed_count, some!.removed_count]).toEqual([5, 1])
  })
})

describe('the status', () => {
  it('returns the oldest event, the last run and the next one', async () => {
    const time = clock()
    const world = open(memoryStore({ clock: time }), {
      rules: [
        { name: 'hourly', target: 'events', maxRows: 5, every: { hours: 1 } },
        { name: 'daily', target: 'statistics', at: '03:30' },
        { name: 'manual', target: 'jobs', run: () => Promise.reject(new Error('no')) },
      ],
    })
    expect(await world.cleaning.status()).toEqual({
      oldest: null,
      rules: [
        {
          name: 'hourly',
          target: 'events',
          running: false,
          lastRun: null,
          nextRun: '2026-06-01T00:00:00.000000Z',
        },
        {
          name: 'daily',
          target: 'statistics',
          running: false,
          lastRun: null,
          nextRun: '2026-06-01T03:30:00.000000Z',
        },
        { name: 'manual', target: 'jobs', running: false, lastRun: null, nextRun: null },
      ],
    })
    await fill(world, time)
    await world.cleaning.run()
    const ran = '2026-06-11T00:00:00.000000Z'
    const { oldest, rules } = await world.cleaning.status()
    expect(oldest).toBe((await world.all())[0]!.created_at)
    expect(rules.map(({ lastRun, nextRun }) => ({ lastRun, nextRun }))).toEqual([
      {
        lastRun: { started_at: ran, finished_at: ran, removed_count: 5 },
        nextRun: '2026-06-11T01:00:00.000000Z',
      },
      {
        lastRun: { started_at: ran, finished_at: ran, removed_count: 0 },
        nextRun: '2026-06-11T03:30:00.000000Z',
      },
      {
        lastRun: { started_at: ran, finished_at: ran, removed_count: 0, error: 'no' },
        nextRun: null,
      },
    ])
  })
})

describe('closing the log', () => {
  it('ends a run between two batches, and rejects further ones', async () => {
    const time = clock()
    let began = (): void => {}
    const beginning = new Promise<void>((resolve) => (began = resolve))
    const world = open(memoryStore({ clock: time }), {
      rules: [
        {
          target: 'jobs',
          run: ({ signal, progress }) =>
            new Promise((_, reject) => {
              progress(2)
              signal.addEventListener('abort', () => reject(new Error('stopped')))
              began()
            }),
        },
      ],
    })
    const running = world.cleaning.run()
    await beginning
    const ended = expect(running).rejects.toMatchObject({ code: 'CLOSED' })
    await world.cleaning.close()
    await ended
    expect(await world.cleaningEvents()).toMatchObject([
      { type: 'info:data_cleanup:jobs', attributes: { removed_count: 2 } },
    ])
    await expect(world.cleaning.run()).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(world.cleaning.preview()).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(world.cleaning.status()).rejects.toMatchObject({ code: 'CLOSED' })
    await world.cleaning.close()
  })
})

describe('the clock of rules by age', () => {
  const rules: CleaningRule[] = [{ target: 'events', maxAge: { days: 7 } }]

  it('is accepted by the next run if the store was away', async () => {
    const time = clock()
    const store = faultyStore(memoryStore({ clock: time }))
    await using audit: AuditLog = new AuditLog({ store, types: {}, cleaning: { rules } })
    await audit.recordCustom('odd')
    time.jump(29 * DAY)
    expect(await audit.cleaning.run()).toMatchObject([{ skipped: expect.any(String) }])
    store.fail('updateState', 1)
    audit.acceptClock()
    expect(await audit.cleaning.run()).toMatchObject([{ removed_count: 1 }])
  })

  it('is judged at a start only without a monotonic clock', async () => {
    const temp = tempDir()
    let now = Date.parse('2026-06-01T00:00:00Z') * 1000
    const openLog = (): AuditLog => {
      const store = sqliteStore({ filename: temp.file('audit.db'), clock: () => now })
      return new AuditLog({ store, types: {}, cleaning: { rules } })
    }
    const first = openLog()
    await first.recordCustom('odd')
    now += 10 * DAY
    expect(await first.cleaning.run()).toMatchObject([{ removed_count: 1 }])
    await first.recordCustom('odd')
    await first.close()
    now += 10 * DAY
    const next = openLog()
    expect(await next.cleaning.run()).toMatchObject([
      { removed_count: 0, skipped: expect.any(String) },
    ])
    await next.close()
    temp.remove()
  })

  it('is in doubt until the newest event can be read', async () => {
    const time = clock()
    const store = faultyStore(memoryStore({ clock: time }))
    await using audit: AuditLog = new AuditLog({ store, types: {}, cleaning: { rules } })
    await audit.recordCustom('odd')
    time.jump(29 * DAY)
    store.fail('list', 1)
    const [result] = await audit.cleaning.run()
    expect(result).toMatchObject({ removed_count: 0, error: expect.any(String) })
  })
})
