import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import {
  AuditLog,
  AuditLogError,
  type AuditLogErrorCode,
  type AuditLogOptions,
  type AuditLogStats,
  type EventStore,
  type OutcomeMessage,
  parseQuery,
} from 'daybook'
import { memoryStore } from 'daybook/memory'
import { type FaultyStore, faultyStore, manualClock } from 'daybook/testing'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { gate, stateOf, turns } from '../fake-store.js'
import { plainDraft } from '../../support/plain-events.js'
import { takeWarnings } from '../../support/warnings.js'
import { type MemoryJournal, memoryJournal } from '../memory-journal.js'

const types = {
  'api:a:b': {},
  'info:c:d': {},
  'info:c:e': {},
  'info:strict': { data: ['n'] },
  'warn:throttled:g': { throttle: { period: { hours: 1 } } },
} as const

type Options = Partial<AuditLogOptions<typeof types>>

interface Rig {
  readonly audit: AuditLog<typeof types>
  readonly store: FaultyStore
  readonly journal: MemoryJournal
  /** Types of the stored events, oldest first, without events of the log itself. */
  readonly storedTypes: () => Promise<string[]>
  /** The attributes of the gap reports. */
  readonly gaps: () => Promise<unknown[]>
}

const open = new Set<AuditLog>()

function rig(options: Options = {}, journal = memoryJournal(), memory?: EventStore): Rig {
  const store = faultyStore(memory ?? memoryStore())
  const audit = new AuditLog({
    store,
    types,
    journal,
    waiting: { deadlineMs: 1000 },
    ...options,
  })
  open.add(audit)
  const all = async (query: string) => (await audit.list(`${query}&limit=1000`)).events
  return {
    audit,
    store,
    journal,
    storedTypes: async () =>
      (await all('filter[type_not_eq]=warn:audit_log:gap')).map(({ type }) => type),
    gaps: async () =>
      (await all('filter[type_eq]=warn:audit_log:gap')).map(({ attributes }) => attributes),
  }
}

function expectBalanced({ calls, ...outcomes }: AuditLogStats): void {
  expect(Object.values(outcomes).reduce((sum, count) => sum + count, 0)).toBe(calls)
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})

afterEach(async () => {
  vi.useRealTimers()
  for (const audit of open) await audit.close()
  open.clear()
})

describe('a gap event that was stored by its first attempt, without an answer', () => {
  /** Every attempt to store a gap event fails with the next of `codes`. The first attempt has stored the event. */
  async function inDoubt(codes: readonly AuditLogErrorCode[]): Promise<Rig> {
    const memory = memoryStore()
    let attempts = 0
    const append: EventStore['append'] = async (drafts, options) => {
      const isGap = drafts.some(({ type }) => type === 'warn:audit_log:gap')
      const code = isGap ? codes[attempts++] : undefined
      if (code === undefined || attempts === 1) {
        const events = await memory.append(drafts, options)
        if (code === undefined) return events
      }
      throw new AuditLogError(code, 'no answer')
    }
    const made = rig({}, undefined, { ...memory, append })
    made.store.fail('append', 1)
    await expect(made.audit.record('api:a:b')).rejects.toThrow()
    for (const _ of [...codes, undefined]) {
      await made.audit.record('api:a:b')
      await turns()
    }
    expect(attempts).toBe(codes.length + 1)
    return made
  }

  it.each<readonly AuditLogErrorCode[]>([
    ['OUTCOME_UNKNOWN'],
    ['OUTCOME_UNKNOWN', 'STORE_FAILED'],
    ['OUTCOME_UNKNOWN', 'DEADLINE_EXCEEDED', 'OUTCOME_UNKNOWN', 'STORE_FAILED'],
  ])('is stored once, after %j %j', async (...codes) => {
    const { gaps } = await inDoubt(codes)
    expect(await gaps()).toEqual([expect.objectContaining({ count: 1 })])
  })

  it('goes to the journal if the store fails when the log is closed', async () => {
    const memory = memoryStore()
    const journal = memoryJournal()
    let isDown = false
    const append: EventStore['append'] = async (drafts, options) => {
      if (isDown) throw new AuditLogError('STORE_FAILED', 'down')
      const events = await memory.append(drafts, options)
      if (!drafts.some(({ type }) => type === 'warn:audit_log:gap')) return events
      isDown = true
      throw new AuditLogError('OUTCOME_UNKNOWN', 'no answer')
    }
    const { audit, store } = rig({}, journal, { ...memory, append, close: async () => {} })
    store.fail('append', 1)
    await expect(audit.record('api:a:b')).rejects.toThrow()
    await audit.record('api:a:b')
    await turns()
    const warnings = takeWarnings()
    await audit.close()
    expect(warnings).toEqual([])
    expect(journal.length).toBe(1)
    const { audit: next, gaps } = rig({}, journal, memory)
    await turns()
    expect(journal.length).toBe(0)
    await next.flush()
    expect(await gaps()).toEqual([expect.objectContaining({ count: 1 })])
  })
})

it('an event that was stored without an answer is stored once, also if only other events of its batch are due', async () => {
  const memory = memoryStore()
  const first = gate()
  let attempts = 0
  const append: EventStore['append'] = async (drafts, options) => {
    attempts += 1
    if (attempts === 1) await first.answer(undefined, drafts)
    const events = await memory.append(drafts, { ...options, onStored: undefined })
    if (attempts !== 2) return events
    await new Promise((resolve) => options!.signal!.addEventListener('abort', resolve))
    throw new AuditLogError('OUTCOME_UNKNOWN', 'no answer')
  }
  const { audit, storedTypes } = rig({}, undefined, { ...memory, append })
  const calls = [audit.record('info:c:d')]
  await turns()
  calls.push(audit.record('api:a:b'))
  await vi.advanceTimersByTimeAsync(500)
  calls.push(audit.record('info:c:e'))
  const states = Promise.all(calls.map(stateOfEnd))
  first.open()
  await turns()
  await vi.advanceTimersByTimeAsync(500)
  expect(await states).toEqual(['stored', 'OUTCOME_UNKNOWN', 'stored'])
  expect(await storedTypes()).toEqual(['info:c:d', 'api:a:b', 'info:c:e'])
})

describe('block', () => {
  it('rejects after the deadline, and a gap event follows once the store is back', async () => {
    const { audit, store, storedTypes, gaps } = rig()
    store.hang('append')
    const calls = [audit.record('api:a:b'), audit.record('api:a:b'), audit.record('info:c:d')]
    const states = Promise.all(calls.map(stateOfEnd))
    await vi.advanceTimersByTimeAsync(1000)
    expect(await states).toEqual(Array.from({ length: 3 }, () => 'DEADLINE_EXCEEDED'))
    expect(audit.stats()).toMatchObject({ calls: 3, rejected: 3, waiting: 0 })
    store.heal()
    await vi.advanceTimersByTimeAsync(5000)
    expect(await storedTypes()).toEqual([])
    expect(await gaps()).toMatchObject([
      {
        count: 3,
        losses: [
          { type: 'api:a:b', reason: 'deadline_exceeded', count: 2 },
          { type: 'info:c:d', reason: 'deadline_exceeded', count: 1 },
        ],
      },
    ])
    expect(audit.stats()).toMatchObject({ calls: 3, rejected: 3, stored: 0, waiting: 0 })
  })

  it('records the gap with the first event that is stored', async () => {
    const { audit, store, gaps } = rig()
    store.hang('append')
    const state = stateOfEnd(audit.record('api:a:b'))
    await vi.advanceTimersByTimeAsync(1000)
    expect(await state).toBe('DEADLINE_EXCEEDED')
    store.heal()
    await audit.record('info:c:d')
    await turns()
    expect(await gaps()).toHaveLength(1)
  })
})

describe('a gap event reports', () => {
  type Lose = (log: Rig) => Promise<unknown>[]
  const aborted = AbortSignal.abort()
  const unknown = new AuditLogError('OUTCOME_UNKNOWN', 'not confirmed')
  const misspelt = 'api:a:bb' as 'api:a:b'
  const undeclared = { m: 1 } as object

  it.each<[what: string, code: string, lose: Lose, options?: Options]>([
    [
      'a store that fails',
      'STORE_FAILED',
      ({ audit, store }) => {
        store.fail('append', 1, Object.assign(new Error('full'), { code: 'SQLITE_FULL' }))
        return [audit.record('api:a:b'), audit.recordCustom('api:a:b')]
      },
    ],
    [
      'an unknown outcome',
      'OUTCOME_UNKNOWN',
      ({ audit, store }) => {
        store.fail('append', undefined, unknown)
        const call = audit.record('api:a:b')
        void vi.advanceTimersByTimeAsync(1000).then(() => store.heal())
        return [call]
      },
    ],
    [
      'a full queue',
      'QUEUE_FULL',
      ({ audit, store }) => {
        store.hang('append', 1)
        void audit.record('info:c:d')
        const refused = [
          audit.record('api:a:b'),
          audit.recordCustom('api:a:b', {}, { idempotencyKey: 'k' }),
        ]
        void vi.advanceTimersByTimeAsync(1).then(() => store.heal())
        return refused
      },
      { waiting: { maxWaiting: 1 } },
    ],
    [
      'a full journal',
      'QUEUE_FULL',
      ({ audit, store, journal }) => {
        store.fail('append', 1)
        journal.failing = new AuditLogError('QUEUE_FULL', 'the journal is full')
        return [audit.record('api:a:b')]
      },
      { failurePolicy: 'queue' },
    ],
    [
      'aborted calls',
      'ABORTED',
      ({ audit }) => {
        const abort = new AbortController()
        const waiting = audit.record('api:a:b', {}, { signal: abort.signal })
        abort.abort()
        return [waiting, audit.record('api:a:b', {}, { signal: aborted })]
      },
    ],
    ['an unknown type', 'UNKNOWN_EVENT_TYPE', ({ audit }) => [audit.record(misspelt)]],
    [
      'data that strict mode refuses',
      'INVALID_DATA',
      ({ audit }) => [audit.record('info:strict', undeclared)],
      { strict: true },
    ],
    [
      'a value that is not a transaction',
      'INVALID_OPTION',
      ({ audit }) => [audit.record('api:a:b', {}, { transaction: {} })],
    ],
  ])('%s', async (_what, code, lose, options) => {
    takeWarnings()
    const log = rig(options)
    const lost = lose(log)
    const codes = Array.from(lost, () => code)
    expect(await Promise.all(lost.map(stateOfEnd))).toEqual(codes)
    await vi.advanceTimersByTimeAsync(5000)
    await turns()
    const { count, losses } = (await log.gaps())[0] as { count: number; losses: unknown[] }
    expect(count).toBe(lost.length)
    expect(losses).toMatchObject([{ reason: code.toLowerCase(), count: lost.length }])
    expect(log.audit.stats()).toMatchObject({ rejected: lost.length, waiting: 0 })
  })

  it('events of the log itself', async () => {
    const { audit, store, gaps } = rig({ cleaning: { rules: [{ target: 'events', maxRows: 1 }] } })
    await audit.record('api:a:b')
    await audit.record('api:a:b')
    store.fail('append', 1)
    expect(await audit.cleaning.run()).toMatchObject([{ removed_count: 1 }])
    await vi.advanceTimersByTimeAsync(1000)
    const losses = [{ type: 'info:data_cleanup:events', reason: 'store_failed' }]
    await turns()
    expect(await gaps()).toMatchObject([{ losses }])
    expect(audit.stats()).toMatchObject({ calls: 2, rejected: 0 })
  })

  it('no custom events that are refused as invalid', async () => {
    const warnings = takeWarnings()
    const { audit, gaps } = rig()
    await expect(audit.recordCustom('')).rejects.toMatchObject({ code: 'INVALID_EVENT' })
    const idempotencyKey = 'k'
    await audit.recordCustom('a', { n: 1 }, { idempotencyKey })
    const again = audit.recordCustom('a', { n: 2 }, { idempotencyKey })
    await expect(again).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' })
    await vi.advanceTimersByTimeAsync(60_000)
    expect(await gaps()).toEqual([])
    expect(warnings).toEqual([])
  })

  it('calls with a type that is not a text, and the start of a long type', async () => {
    takeWarnings()
    const { audit, gaps } = rig()
    const types = [Symbol('type'), undefined, 'x'.repeat(10_000)] as unknown as string[]
    for (const type of types) expect(await stateOfEnd(audit.record(type as 'api:a:b'))).toMatch(/_/)
    await vi.advanceTimersByTimeAsync(1000)
    await turns()
    const [gap] = (await gaps()) as { losses: { type: unknown }[] }[]
    expect(gap!.losses.map(({ type }) => type)).toEqual([null, 'x'.repeat(255)])
  })

  it('losses on close, if the store is back', async () => {
    takeWarnings()
    const memory = memoryStore()
    const { audit, store } = rig({}, memoryJournal(), { ...memory, close: async () => {} })
    store.fail('append', 1)
    await stateOfEnd(audit.record('api:a:b'))
    await audit.close()
    const { events } = await memory.list(parseQuery(''))
    expect(events).toMatchObject([{ type: 'warn:audit_log:gap', attributes: { count: 1 } }])
  })

  it('nothing on close if store and journal refuse the event, but a process warning reports the losses', async () => {
    const { audit, store, journal } = rig()
    journal.failing = new Error('full')
    audit.on('rejected', () => {})
    store.fail('append')
    await Promise.all([1, 2].map(() => stateOfEnd(audit.record('api:a:b'))))
    const warnings = takeWarnings()
    await audit.close()
    expect(warnings).toEqual([
      expect.stringContaining('2 lost events are not reported in the audit log'),
    ])
  })
})

describe('a process warning of lost events', () => {
  it('is emitted once for each cause', async () => {
    const warnings = takeWarnings()
    const { audit, store } = rig({ waiting: { maxWaiting: 1 } })
    const fail = async (code: string, times = 1): Promise<void> => {
      store.fail('append', times, Object.assign(new Error('no room'), { code }))
      for (let i = 0; i < times; i++) await stateOfEnd(audit.record('api:a:b'))
    }
    await fail('SQLITE_FULL', 3)
    await fail('SQLITE_IOERR')
    await Promise.all([audit.record('api:a:b'), stateOfEnd(audit.record('api:a:b'))])
    expect(warnings).toEqual([
      expect.stringMatching(
        /api:a:b is lost: .*: no room \(the audit log has no listener for 'rejected'/,
      ),
      expect.stringContaining('no room'),
      expect.stringContaining('already wait'),
    ])
  })

  it('is not emitted if a handler listens to rejected', async () => {
    const warnings = takeWarnings()
    const { audit, store } = rig()
    const handler = vi.fn()
    audit.on('rejected', handler)
    store.fail('append', 1)
    await stateOfEnd(audit.record('api:a:b'))
    expect(handler).toHaveBeenCalledOnce()
    expect(warnings).toEqual([])
  })
})

describe('drop', () => {
  const failurePolicy = { default: 'drop' } as const

  it('resolves to undefined, counts the event, and records a gap', async () => {
    const { audit, store, gaps } = rig({ failurePolicy })
    const dropped: unknown[] = []
    audit.on('dropped', ({ type, error }) => dropped.push([type, error.code]))
    store.fail('append', 1)
    expect(await audit.record('api:a:b')).toBeUndefined()
    expect(dropped).toEqual([['api:a:b', 'STORE_FAILED']])
    expect(audit.stats()).toMatchObject({ calls: 1, dropped: 1, rejected: 0, waiting: 0 })
    await vi.advanceTimersByTimeAsync(1000)
    expect(await gaps()).toMatchObject([{ count: 1, losses: [{ reason: 'dropped', count: 1 }] }])
  })

  it('waits for a hanging store until the deadline. Only one of later calls waits', async () => {
    const { audit, store } = rig({ failurePolicy })
    store.hang('append')
    const first = stateOfEnd(audit.record('api:a:b'))
    await vi.advanceTimersByTimeAsync(1000)
    expect(await first).toBe('undefined')
    const probe = audit.record('api:a:b')
    expect(await stateOf(probe)).toBe('waiting')
    expect(await stateOf(audit.record('info:c:d'))).toBe('undefined')
    store.heal()
    expect(await probe).toBeDefined()
    expect(await audit.record('info:c:d')).toBeDefined()
  })

  it('still rejects invalid calls', async () => {
    const { audit } = rig({ failurePolicy })
    await expect(audit.record('no:such:type' as 'api:a:b')).rejects.toMatchObject({
      code: 'UNKNOWN_EVENT_TYPE',
    })
    const signal = AbortSignal.abort()
    await expect(audit.record('api:a:b', {}, { signal })).rejects.toMatchObject({ code: 'ABORTED' })
  })

  it('drops events beyond the queue limits', async () => {
    const { audit, store } = rig({ failurePolicy, waiting: { maxWaiting: 2 } })
    store.hang('append')
    const [first, second] = [audit.record('api:a:b'), audit.record('api:a:b')]
    expect(await stateOf(audit.record('api:a:b'))).toBe('undefined')
    store.heal()
    expect(await first).toBeDefined()
    expect(await second).toBeDefined()
    expect(audit.stats()).toMatchObject({ stored: 2, dropped: 1 })
  })
})

describe('queue', () => {
  const failurePolicy = { types: { 'info:c:d': 'queue', 'info:c:e': 'queue' } } as const

  it('writes events to the journal, and then to the store in the same order', async () => {
    const { audit, store, journal, storedTypes, gaps } = rig({ failurePolicy })
    store.hang('append')
    const calls = [
      audit.record('info:c:d', { n: 0 }),
      audit.record('api:a:b'),
      audit.record('info:c:e', { n: 1 }),
    ]
    const states = Promise.all(calls.map(stateOfEnd))
    await vi.advanceTimersByTimeAsync(1001)
    expect(await states).toEqual(['undefined', 'DEADLINE_EXCEEDED', 'undefined'])
    expect(await audit.record('info:c:d', { n: 2 })).toBeUndefined()
    expect(journal.entries.map(({ draft }) => draft.attributes['n'])).toEqual([0, 1, 2])
    expect(audit.stats()).toMatchObject({ calls: 4, journalled: 3, rejected: 1, waiting: 0 })
    store.heal()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(await storedTypes()).toEqual(['info:c:d', 'info:c:e', 'info:c:d'])
    expect(journal.length).toBe(0)
    expect(await gaps()).toHaveLength(1)
    expect(audit.stats()).toMatchObject({ calls: 4, journalled: 3, stored: 0, rejected: 1 })
    expect(await audit.record('info:c:d', { n: 3 })).toBeDefined()
  })

  it('adds occurred_at to an event that is stored late', async () => {
    const clock = manualClock()
    const memory = memoryStore({ clock })
    const { audit, store } = rig({ failurePolicy }, memoryJournal(), memory)
    store.fail('append', 2)
    await audit.record('info:c:d')
    await audit.record('info:c:e', { occurred_at: 'yesterday' })
    await turns()
    clock.advance(1_000_001)
    await vi.advanceTimersByTimeAsync(1000)
    await turns()
    const { events } = await audit.list()
    expect(events.map(({ attributes }) => attributes)).toEqual([
      { occurred_at: '2026-01-01T00:00:00.000000Z' },
      { occurred_at: 'yesterday' },
    ])
  })

  it('keeps the order of new events and events in the journal', async () => {
    const { audit, store, storedTypes } = rig({ failurePolicy })
    store.fail('append', 1)
    await audit.record('info:c:d')
    const calls = [audit.record('info:c:e'), audit.record('info:c:e'), audit.record('info:c:d')]
    await Promise.all(calls)
    await vi.advanceTimersByTimeAsync(1000)
    expect(await storedTypes()).toEqual(['info:c:d', 'info:c:e', 'info:c:e', 'info:c:d'])
  })

  it('writes the calls of one turn to the journal together', async () => {
    const { audit, store, journal } = rig({ failurePolicy })
    store.fail('append')
    await audit.record('info:c:d')
    await Promise.all(Array.from({ length: 1200 }, () => audit.record('info:c:e')))
    expect(journal.adds).toEqual([1, 500, 500, 200])
  })

  it('writes events beyond the queue limits to the journal', async () => {
    const { audit, store, journal } = rig({
      failurePolicy: 'queue',
      waiting: { maxWaiting: 2 },
    })
    store.hang('append')
    const calls = Array.from({ length: 5 }, () => audit.record('api:a:b'))
    expect(await Promise.all(calls.slice(2))).toEqual([undefined, undefined, undefined])
    expect(journal.length).toBe(3)
    store.heal()
    for (const call of calls.slice(0, 2)) expect(await call).toBeDefined()
  })

  it('rejects if the journal is full, and keeps the events that fit', async () => {
    const { audit, store, journal } = rig({ failurePolicy: 'queue' }, memoryJournal(2))
    store.fail('append')
    await audit.record('api:a:b')
    const calls = [audit.record('info:c:d'), audit.record('info:c:e'), audit.record('info:c:e')]
    expect(await Promise.all(calls.map(stateOfEnd))).toEqual([
      'undefined',
      'QUEUE_FULL',
      'QUEUE_FULL',
    ])
    expect(journal.length).toBe(2)
    expect(audit.stats()).toMatchObject({ journalled: 2, rejected: 2, waiting: 0 })
  })

  it('rejects if the journal fails', async () => {
    const { audit, store, journal } = rig({ failurePolicy: 'queue' })
    store.fail('append')
    journal.failing = new Error('no space left')
    const call = audit.record('api:a:b')
    await expect(call).rejects.toMatchObject({ code: 'STORE_FAILED', cause: journal.failing })
  })

  it('tries the store again after the journal has refused an event', async () => {
    const { audit, store, journal } = rig({ failurePolicy })
    store.fail('append', 1)
    journal.failing = new Error('no space left')
    await expect(audit.record('info:c:d')).rejects.toMatchObject({ cause: journal.failing })
    expect(await audit.record('info:c:d')).toBeDefined()
    expect(audit.stats()).toMatchObject({ calls: 2, rejected: 1, stored: 1, waiting: 0 })
  })

  it('does not wait for a store that is down because the journal refused an event long ago', async () => {
    const { audit, store, journal } = rig({ failurePolicy })
    store.fail('append', 1)
    journal.failing = new Error('no space left')
    await expect(audit.record('info:c:d')).rejects.toMatchObject({ cause: journal.failing })
    journal.failing = undefined
    expect(await audit.record('info:c:d')).toBeDefined()
    store.fail('append', 1)
    await expect(audit.record('api:a:b')).rejects.toMatchObject({ code: 'STORE_FAILED' })
    store.hang('append')
    expect(await stateOf(audit.record('info:c:e'))).toBe('undefined')
    expect(journal.length).toBe(1)
  })

  it('keeps the order of events after a refused event', async () => {
    const { audit, store, journal, storedTypes } = rig({ failurePolicy })
    store.fail('append', 1)
    await expect(audit.record('api:a:b')).rejects.toMatchObject({ code: 'STORE_FAILED' })
    journal.failing = new Error('too large')
    let again: Promise<unknown> | undefined
    audit.on('rejected', () => {
      journal.failing = undefined
      again = audit.record('info:c:d')
    })
    const calls = [audit.record('info:c:d'), audit.record('info:c:e')]
    expect(await Promise.all(calls.map(stateOfEnd))).toEqual(['STORE_FAILED', 'undefined'])
    await again
    await vi.advanceTimersByTimeAsync(1000)
    expect(await storedTypes()).toEqual(['info:c:e', 'info:c:d'])
  })

  it('replays the journal of an earlier process, and finds events that it has stored already', async () => {
    const memory = memoryStore()
    const draft = plainDraft({ type: 'info:c:d' })
    await memory.append([draft])
    const left = [
      { draft, recordedAt: 0, since: 0 },
      { draft: { ...draft, suffix: '8000000000000001' }, recordedAt: 0, since: undefined },
    ]
    const { storedTypes, journal } = rig({ failurePolicy }, memoryJournal(Infinity, left), memory)
    await vi.advanceTimersByTimeAsync(100)
    expect(journal.length).toBe(0)
    expect(await storedTypes()).toEqual(['info:c:d', 'info:c:d'])
  })

  it('marks journal entries before it appends them', async () => {
    const { audit, store, journal } = rig({ failurePolicy })
    const { created_at } = (await audit.record('api:a:b'))!
    store.fail('append')
    await audit.record('info:c:d')
    expect(journal.entries).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1000)
    expect(journal.entries[0]!.since).toBeDefined()
    expect(journal.entries[0]!.since).toBe(
      Date.parse(created_at) * 1000 + Number(created_at.slice(23, 26)),
    )
  })

  it('counts events that are suppressed during the replay', async () => {
    const clock = manualClock()
    const { audit, store, storedTypes } = rig(
      { failurePolicy: { types: { 'warn:throttled:g': 'queue' } } },
      memoryJournal(),
      memoryStore({ clock }),
    )
    await audit.record('warn:throttled:g')
    clock.advance(3_600_000_000)
    store.fail('append', 2)
    expect(await audit.record('warn:throttled:g')).toBeUndefined()
    await turns()
    // Another process records the event first.
    const other = new AuditLog({ store, types })
    expect(await other.record('warn:throttled:g')).toBeDefined()
    await vi.advanceTimersByTimeAsync(1000)
    expect(await storedTypes()).toHaveLength(2)
    expect(audit.stats()).toMatchObject({ stored: 1, journalled: 1, suppressed: 0 })
    await audit.flush()
    clock.advance(3_600_000_000)
    const next = await audit.record('warn:throttled:g')
    expect(next!.attributes['suppressed_count']).toBe(1)
  })

  it('leaves waiting events and the unrecorded gap in the journal on close', async () => {
    const { audit, store, journal } = rig({ failurePolicy })
    store.hang('append')
    const states = [audit.record('info:c:d'), audit.record('api:a:b')].map(stateOfEnd)
    await vi.advanceTimersByTimeAsync(1001)
    expect(await Promise.all(states)).toEqual(['undefined', 'DEADLINE_EXCEEDED'])
    const closed = audit.close()
    await vi.advanceTimersByTimeAsync(10_000)
    await closed
    expect(journal.closed).toBe(1)
    expect(journal.entries.map(({ draft }) => draft.type)).toEqual([
      'info:c:d',
      'warn:audit_log:gap',
    ])
  })
})

describe('the option failurePolicy', () => {
  it.each([
    ['retry', 'failurePolicy.default must be block, queue or drop; it is "retry"'],
    [{ levels: { api: 'lose' } }, 'failurePolicy.levels.api must be'],
    [{ types: { 'api:a:b': undefined } }, 'failurePolicy.types.api:a:b must be'],
    [{ levels: { 'api:a': 'drop' } }, 'a level is the part of a type before its first colon'],
    [{ types: { '': 'drop' } }, 'is not a valid event type'],
  ])('%j is refused', (failurePolicy, message) => {
    const make = (): AuditLog =>
      new AuditLog({ store: memoryStore(), types, failurePolicy: failurePolicy as 'block' })
    expect(make).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
    expect(make).toThrow(message)
  })

  it.each(['queue', { levels: { info: 'queue' } }, { types: { 'api:a:b': 'queue' } }] as const)(
    '%j needs a journal',
    (failurePolicy) => {
      const make = (): AuditLog => new AuditLog({ store: memoryStore(), types, failurePolicy })
      expect(make).toThrow('which needs the option journal')
    },
  )

  it('applies by type, then by level, then the default', async () => {
    const { audit, store } = rig({
      failurePolicy: { default: 'drop', levels: { info: 'block' }, types: { 'info:c:e': 'queue' } },
    })
    store.fail('append')
    const calls = [audit.record('api:a:b'), audit.record('info:c:d'), audit.record('info:c:e')]
    await Promise.all(calls.map(stateOfEnd))
    expect(audit.stats()).toMatchObject({ dropped: 1, rejected: 1, journalled: 1 })
  })
})

describe('counters', () => {
  it('are published when calls settle', async () => {
    const messages: unknown[] = []
    const listener = (message: unknown): void => {
      const { audit, type, outcome } = message as OutcomeMessage
      messages.push([type, outcome])
      expect(audit).toBe(log.audit)
      expectBalanced(log.audit.stats())
    }
    const log = rig({
      failurePolicy: { types: { 'info:c:d': 'drop', 'info:c:e': 'queue' } },
    })
    subscribe('daybook:outcome', listener)
    try {
      await log.audit.record('warn:throttled:g')
      await log.audit.record('warn:throttled:g')
      log.store.fail('append')
      await log.audit.record('info:c:d')
      await log.audit.record('info:c:e')
      await expect(log.audit.record('api:a:b')).rejects.toBeInstanceOf(AuditLogError)
    } finally {
      unsubscribe('daybook:outcome', listener)
    }
    expect(messages).toEqual([
      ['warn:throttled:g', 'stored'],
      ['warn:throttled:g', 'suppressed'],
      ['info:c:d', 'dropped'],
      ['info:c:e', 'journalled'],
      ['api:a:b', 'rejected'],
    ])
  })
})

/** The outcome of a call, with an unlimited wait. */
async function stateOfEnd(call: Promise<unknown>): Promise<string> {
  return call.then(
    (event) => (event === undefined ? 'undefined' : 'stored'),
    (error: unknown) => (error instanceof AuditLogError ? error.code : String(error)),
  )
}
