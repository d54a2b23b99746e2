import {
  AuditLog,
  type AuditEvent,
  type AuditLogOptions,
  type AuditLogStats,
  type Clock,
  type EventStore,
  type EventTypes,
  parseQuery,
  withActor,
} from 'daybook'
import { memoryStore } from 'daybook/memory'
import { type FaultyStore, faultyStore, manualClock } from 'daybook/testing'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { DEADLINE_MS } from '../../support/deadlines.js'
import { stateOf, turns } from '../fake-store.js'
import { memoryJournal } from '../memory-journal.js'

const DAY = 86_400_000_000

type Options = Partial<AuditLogOptions<EventTypes>>

afterEach(() => void vi.useRealTimers())

interface Rig {
  readonly audit: AuditLog
  readonly store: FaultyStore
  /** Numbers of the stored events, oldest first, without events of the log itself. */
  storedNumbers(): Promise<unknown[]>
  /** Records event number `n`; by default by ann with the key `k`. */
  note(n: number, options?: { key?: string; username?: string | null; signal?: AbortSignal }): Call
}

type Call = Promise<AuditEvent | undefined>

function rig(options: Options = {}, events: EventStore = memoryStore()): Rig {
  const store = faultyStore(events)
  const audit: AuditLog = new AuditLog({
    store,
    types: {},
    waiting: { deadlineMs: DEADLINE_MS },
    ...options,
  })
  onTestFinished(async () => {
    store.heal()
    await audit.close()
  })
  return {
    audit,
    store,
    async storedNumbers() {
      const query = 'filter[type_eq]=test:note&filter[sorts]=created_at&limit=1000'
      const page = await events.list(parseQuery(query))
      return page.events.map(({ attributes }) => attributes['n'])
    },
    note: (n, { key = 'k', username = 'ann', signal } = {}) =>
      audit.recordCustom('test:note', { n }, { username, idempotencyKey: key, signal }),
  }
}

/** A store that stays open when a log closes it. Several logs on it act as several processes. */
function sharedStore(clock?: Clock): EventStore {
  return { ...memoryStore(clock && { clock }), close: async () => {} }
}

function twins(): [Rig, Rig] {
  const events = sharedStore()
  return [rig({}, events), rig({}, events)]
}

/** The store of a process that dies once its append has succeeded. */
function dyingStore(events: EventStore): EventStore {
  let isAlive = true
  return {
    ...events,
    async updateState(key, change, options) {
      if (!isAlive) throw new Error('dead')
      return events.updateState(key, change, options)
    },
    async append(drafts, options) {
      isAlive = false
      return events.append(drafts, options)
    },
  }
}

function expectBalanced({ calls, ...outcomes }: AuditLogStats): void {
  expect(Object.values(outcomes).reduce((sum, count) => sum + count, 0)).toBe(calls)
}

const codeOf = async (call: Call): Promise<unknown> =>
  call.then(
    (event) => event?.attributes['n'],
    (error: { code: unknown }) => error.code,
  )

describe('a key', () => {
  it('makes a repeated call resolve to the same event', async () => {
    const { audit, note, storedNumbers } = rig()
    const first = await note(1)
    expect(first).toMatchObject({ username: 'ann', system: false, attributes: { n: 1 } })
    expect(await note(1)).toEqual(first)
    expect(await storedNumbers()).toEqual([1])
    expect(audit.stats()).toMatchObject({ calls: 2, stored: 2, waiting: 0 })
  })

  it('makes a call in another process resolve to the same event', async () => {
    const [one, other] = twins()
    const first = await one.note(1)
    expect(await other.note(1)).toEqual(first)
    await other.audit.flush()
    expect(await one.note(1)).toEqual(first)
    expect(await one.storedNumbers()).toEqual([1])
  })

  it('is separate for each user', async () => {
    const { audit, note, storedNumbers } = rig()
    const users = [
      { username: 'ann', key: 'k' },
      { username: 'an', key: 'nk' },
      { username: null, key: 'k' },
      { username: 'null', key: 'k' },
      { username: '', key: 'k' },
    ]
    const events = await Promise.all(users.map((user, n) => note(n, user)))
    expect(new Set(events.map((event) => event!.id)).size).toBe(users.length)
    expect(await storedNumbers()).toEqual([0, 1, 2, 3, 4])
    const again = withActor('ann', () =>
      audit.recordCustom('test:note', { n: 0 }, { idempotencyKey: 'k' }),
    )
    expect(await again).toEqual(events[0])
  })

  it('rejects another type or other data', async () => {
    const { audit, note, storedNumbers } = rig()
    await note(1)
    const options = { username: 'ann', idempotencyKey: 'k' }
    const calls = [
      note(2),
      audit.recordCustom('test:other', { n: 1 }, options),
      audit.recordCustom('test:note', { n: 1, m: null }, options),
      audit.recordCustom('test:note', { n: '1' }, options),
    ]
    for (const call of calls) expect(await codeOf(call)).toBe('IDEMPOTENCY_CONFLICT')
    expect(await storedNumbers()).toEqual([1])
    expect(audit.stats()).toMatchObject({ calls: 5, stored: 1, rejected: 4 })
  })

  it('rejects another type or other data while the first call is in flight', async () => {
    const [{ note }, other] = twins()
    const calls = [note(1), note(2), other.note(1), other.note(2)]
    expect(await Promise.all(calls.map(codeOf))).toEqual([
      1,
      'IDEMPOTENCY_CONFLICT',
      1,
      'IDEMPOTENCY_CONFLICT',
    ])
  })

  it('ignores the order of members', async () => {
    const { audit } = rig()
    const options = { idempotencyKey: 'k' }
    const parse = (text: string) => JSON.parse(text) as object
    const texts = ['{"a":[{"b":1,"__proto__":2}],"c":3}', '{"c":3,"a":[{"__proto__":2,"b":1}]}']
    const [one, other] = await Promise.all(
      texts.map((text) => audit.recordCustom('x', parse(text), options)),
    )
    expect(one!.id).toBe(other!.id)
    const call = audit.recordCustom('x', parse('{"c":3,"a":[{"__proto__":3,"b":1}]}'), options)
    expect(await codeOf(call)).toBe('IDEMPOTENCY_CONFLICT')
  })

  it.each(['', ' ', 'a b', 'a\n', 'é', 'x'.repeat(256), 5, null])(
    'is rejected if it is %j',
    async (key) => {
      const { audit, storedNumbers } = rig()
      const options = { idempotencyKey: key as string }
      const call = audit.recordCustom('test:note', {}, options)
      await expect(call).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        message: 'idempotencyKey must have 1 to 255 visible ASCII characters',
      })
      expect(audit.stats()).toMatchObject({ calls: 1, rejected: 1, waiting: 0 })
      expect(await storedNumbers()).toEqual([])
    },
  )

  it.each(['!', '~', 'x'.repeat(255), 'a"\\,;b'])('may be %j', async (key) => {
    const { note } = rig()
    expect(await note(1, { key })).toEqual(await note(1, { key }))
  })

  it('is rejected together with a transaction', async () => {
    const { audit } = rig()
    const call = audit.recordCustom('x', {}, { idempotencyKey: 'k', transaction: {} })
    expect(await codeOf(call)).toBe('INVALID_OPTION')
    expectBalanced(audit.stats())
  })

  it('is not used up by a rejected call', async () => {
    const links = [{ attribute: 'n_id', kind: 'code', path: '/n/{n_id}', rank: 1 }] as const
    const { audit, note } = rig({ links })
    const options = { username: 'ann', idempotencyKey: 'k' }
    expect(await codeOf(audit.recordCustom('test:note', { n_id: 1 }, options))).toBe('INVALID_LINK')
    expect(await codeOf(note(1))).toBe(1)
  })

  it('records the data as of the call', async () => {
    const { audit } = rig()
    const data = { n: 1 }
    const call = audit.recordCustom('x', data, { idempotencyKey: 'k' })
    data.n = 2
    expect((await call)!.attributes).toEqual({ n: 1 })
  })

  it('makes one event of concurrent calls in several processes', async () => {
    const [one, other] = twins()
    const calls = Array.from({ length: 50 }, (_, i) => (i % 2 ? one : other).note(1))
    const ids = new Set((await Promise.all(calls)).map((event) => event!.id))
    expect(ids.size).toBe(1)
    expect(await one.storedNumbers()).toEqual([1])
    expect(one.audit.stats()).toMatchObject({ calls: 25, stored: 25 })
  })
})

describe('the 24 hours of a key', () => {
  it.each(['again and again', 'never before'])(
    'end at the same time if it was used %s',
    async (title) => {
      const clock = manualClock()
      const { note, storedNumbers } = rig({}, memoryStore({ clock }))
      const first = await note(1)
      for (let hour = 0; hour < 23; hour++) {
        clock.advance(DAY / 24)
        if (title === 'again and again') expect(await note(1)).toEqual(first)
      }
      clock.advance(DAY / 24 - 1)
      expect(await note(1)).toEqual(first)
      expect(await codeOf(note(2))).toBe('IDEMPOTENCY_CONFLICT')
      clock.advance(1)
      expect(await codeOf(note(2))).toBe(2)
      expect(await codeOf(note(1))).toBe('IDEMPOTENCY_CONFLICT')
      expect(await storedNumbers()).toEqual([1, 2])
    },
  )

  it('start at the first call, even if a later call stores the event', async () => {
    const clock = manualClock()
    const { audit, note, store, storedNumbers } = rig({}, memoryStore({ clock }))
    store.fail('append', 1)
    expect(await codeOf(note(1))).toBe('STORE_FAILED')
    clock.advance(DAY - 1)
    expect(await codeOf(note(1))).toBe(1)
    await audit.flush()
    clock.advance(1)
    expect(await codeOf(note(2))).toBe(2)
    expect(await storedNumbers()).toEqual([1, 2])
  })

  it('keep the answer after cleaning has removed the event', async () => {
    const clock = manualClock()
    const { audit, note, store, storedNumbers } = rig({}, memoryStore({ clock }))
    const first = await note(1)
    await audit.flush()
    expect(await store.remove([first!.id])).toBe(1)
    expect(await note(1)).toEqual(first)
    expect(await storedNumbers()).toEqual([])
  })
})

describe('a failing store', () => {
  it('rejects the event, and the next call stores it', async () => {
    const { audit, store, note, storedNumbers } = rig()
    store.fail('append', 1)
    expect(await codeOf(note(1))).toBe('STORE_FAILED')
    expect(await codeOf(note(2))).toBe('IDEMPOTENCY_CONFLICT')
    expect(await codeOf(note(1))).toBe(1)
    expect(await storedNumbers()).toEqual([1])
    expect(audit.stats()).toMatchObject({ calls: 3, stored: 1, rejected: 2 })
  })

  it('that hangs once rejects the call after its deadline, and the next call stores the event', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const { store, note, storedNumbers } = rig()
    store.hang('append', 1)
    const code = codeOf(note(1))
    await turns()
    await vi.advanceTimersByTimeAsync(DEADLINE_MS + 1)
    expect(await code).toBe('DEADLINE_EXCEEDED')
    expect(await codeOf(note(1))).toBe(1)
    expect(await storedNumbers()).toEqual([1])
  })

  it('that fails after the append does not cause a second event', async () => {
    const events = sharedStore()
    const [one, other] = [rig({}, dyingStore(events)), rig({}, events)]
    const first = await one.note(1)
    await one.audit.flush()
    expect(await other.note(1)).toEqual(first)
    expect(await other.storedNumbers()).toEqual([1])
  })

  it.each(['block', 'drop', 'queue'] as const)(
    'that fails to look up the key rejects the call under the policy %s',
    async (failurePolicy) => {
      const journal = memoryJournal()
      const { audit, store, note, storedNumbers } = rig({ failurePolicy, journal })
      store.fail('updateState', 1)
      expect(await codeOf(note(1))).toBe('STORE_FAILED')
      expect(audit.stats()).toMatchObject({ calls: 1, rejected: 1, waiting: 0 })
      expect(journal.length).toBe(0)
      expect(await codeOf(note(1))).toBe(1)
      expect(await storedNumbers()).toEqual([1])
    },
  )

  it('that hangs in the key lookup rejects the call after its deadline, and a gap event follows', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const { audit, store, note } = rig({ waiting: { deadlineMs: 30 } })
    store.hang('updateState')
    const call = note(1)
    call.catch(() => {})
    expect(audit.stats()).toMatchObject({ calls: 1, waiting: 1 })
    await vi.advanceTimersByTimeAsync(31)
    await expect(call).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      message: 'the memory store did not take the event within 30 ms',
    })
    store.heal()
    await audit.recordCustom('x')
    await turns()
    const { events } = await audit.list('filter[type_eq]=warn:audit_log:gap')
    expect(events[0]?.attributes['losses']).toMatchObject([
      { type: 'test:note', reason: 'deadline_exceeded', count: 1 },
    ])
  })

  it('counts the time of the key lookup towards the deadline', async () => {
    const events = memoryStore()
    const deadlines: (number | undefined)[] = []
    const append: EventStore['append'] = async (drafts, options) => {
      deadlines.push(options?.deadline)
      return events.append(drafts, options)
    }
    const { store, note } = rig({}, { ...events, append })
    store.delay('updateState', 20, 1)
    const before = performance.now()
    const call = note(1)
    const after = performance.now()
    await call
    expect(deadlines[0]).toBeGreaterThanOrEqual(before + DEADLINE_MS)
    expect(deadlines[0]).toBeLessThanOrEqual(after + DEADLINE_MS)
  })

  it('drops the event under the policy drop', async () => {
    const { audit, store, note, storedNumbers } = rig({ failurePolicy: 'drop' })
    store.fail('append', 1)
    expect(await note(1)).toBeUndefined()
    expect(audit.stats()).toMatchObject({ calls: 1, dropped: 1 })
    expect(await codeOf(note(1))).toBe(1)
    expect(await storedNumbers()).toEqual([1])
  })

  it('journals repeated calls under the policy queue, and stores one event', async () => {
    const journal = memoryJournal()
    const { audit, store, note, storedNumbers } = rig({ failurePolicy: 'queue', journal })
    store.fail('append')
    expect(await note(1)).toBeUndefined()
    expect(await note(1)).toBeUndefined()
    expect(await note(3, { key: 'other' })).toBeUndefined()
    expect(audit.stats()).toMatchObject({ calls: 3, journalled: 3 })
    expect(journal.length).toBe(3)
    store.heal()
    await expect.poll(() => journal.length).toBe(0)
    expect(await codeOf(note(1))).toBe(1)
    expect(await storedNumbers()).toEqual([1, 3])
  })

  it('finds an event that a repeated call has stored before the replay', async () => {
    const journal = memoryJournal()
    const [one, other] = twins()
    const oneByOne = { ...one.store, tuning: { maxBatch: 1 } }
    const queueing = rig({ failurePolicy: 'queue', journal }, oneByOne)
    queueing.store.fail('append')
    // From here on calls go to the journal without an attempt to store them.
    expect(await queueing.audit.recordCustom('x')).toBeUndefined()
    expect(await queueing.note(1)).toBeUndefined()
    expect(await codeOf(other.note(1))).toBe(1)
    queueing.store.heal()
    await expect.poll(() => journal.length).toBe(0)
    expect(await other.storedNumbers()).toEqual([1])
  })
})

describe('a call with a key', () => {
  it('can be aborted during the key lookup', async () => {
    const { audit, store, note } = rig()
    store.hang('updateState', 1)
    const aborting = new AbortController()
    const call = note(1, { signal: aborting.signal })
    expect(await stateOf(call)).toBe('waiting')
    aborting.abort()
    expect(await codeOf(call)).toBe('ABORTED')
    expect(audit.stats()).toMatchObject({ calls: 1, rejected: 1, waiting: 0 })
    expect(await codeOf(note(1))).toBe(1)
  })

  it('can be aborted when the key lookup resolves', async () => {
    const events = memoryStore()
    const aborting = new AbortController()
    const updateState: EventStore['updateState'] = async (key, change, options) => {
      const answer = await events.updateState(key, change, options)
      aborting.abort()
      return answer
    }
    const { audit, note, storedNumbers } = rig({}, { ...events, updateState })
    expect(await codeOf(note(1, { signal: aborting.signal }))).toBe('ABORTED')
    expect(audit.stats()).toMatchObject({ calls: 1, rejected: 1, waiting: 0 })
    expect(await storedNumbers()).toEqual([])
  })

  it('that is aborted while it waits for another call does not affect other calls', async () => {
    const { audit, store, note, storedNumbers } = rig()
    store.hang('append', 1)
    const aborting = new AbortController()
    const calls = [note(1), note(1, { signal: aborting.signal }), note(1)]
    await turns()
    aborting.abort()
    expect(await codeOf(calls[1]!)).toBe('ABORTED')
    expect(await stateOf(calls[2]!)).toBe('waiting')
    store.heal()
    expect(await codeOf(calls[0]!)).toBe(1)
    expect(await calls[2]).toEqual(await calls[0])
    expect(await storedNumbers()).toEqual([1])
    expectBalanced(audit.stats())
  })

  it('rejects if it is aborted already', async () => {
    const { audit, note } = rig()
    expect(await codeOf(note(1, { signal: AbortSignal.abort() }))).toBe('ABORTED')
    expectBalanced(audit.stats())
  })

  it.each(['flush', 'close'] as const)('is awaited by %s', async (method) => {
    const { audit, store, note, storedNumbers } = rig()
    store.delay('updateState', 20)
    const call = note(1)
    const other = note(2, { key: 'other' })
    await audit[method]()
    expect(await Promise.all([call, other].map(stateOf))).toEqual(['stored', 'stored'])
    expect(audit.stats()).toMatchObject({ calls: 2, stored: 2, waiting: 0 })
    if (method === 'flush') expect(await storedNumbers()).toEqual([1, 2])
  })

  it('counts as waiting, in number and in bytes', async () => {
    const { audit, store, note } = rig({ waiting: { maxWaiting: 2 } })
    store.hang('updateState')
    const calls = [1, 2].map((n) => note(n, { key: `${n}` }))
    expect(await codeOf(note(3, { key: '3' }))).toBe('QUEUE_FULL')
    expect(await codeOf(audit.recordCustom('x'))).toBe('QUEUE_FULL')
    expect(audit.stats()).toMatchObject({ calls: 4, rejected: 2, waiting: 2 })
    store.heal()
    expect(await Promise.all(calls.map(codeOf))).toEqual([1, 2])
    const small = rig({ waiting: { maxWaitingBytes: 10 } })
    small.store.hang('updateState')
    const waiting = small.audit.recordCustom('x', { long: 'text' }, { idempotencyKey: 'k' })
    expect(await codeOf(small.audit.recordCustom('x'))).toBe('QUEUE_FULL')
    small.store.heal()
    await waiting
  })

  it('keeps the counts balanced at every moment', async () => {
    const events = memoryStore()
    const checkingStore: EventStore = {
      ...events,
      async append(drafts, options) {
        expectBalanced(audit.stats())
        return events.append(drafts, options)
      },
      async updateState(key, change, options) {
        expectBalanced(audit.stats())
        return events.updateState(key, change, options)
      },
    }
    const { audit, note, store } = rig(
      { failurePolicy: 'queue', journal: memoryJournal() },
      checkingStore,
    )
    store.fail('append', 2)
    const calls = Array.from({ length: 30 }, (_, n) => note(n % 7, { key: `${n % 5}` }))
    let isOver = false
    const settled = Promise.all(calls.map(codeOf)).then(() => (isOver = true))
    for (; !isOver; await turns()) expectBalanced(audit.stats())
    await settled
    expectBalanced(audit.stats())
    expect(audit.stats()).toMatchObject({ calls: 30, waiting: 0 })
  })

  it('shares a batch with other calls, and a repeated call emits no second `recorded`', async () => {
    const clock = manualClock()
    const events = sharedStore(clock)
    const first = await rig({}, dyingStore(events)).note(1)
    clock.advance(60_000_000)
    const { audit, note, storedNumbers } = rig({}, events)
    const news: unknown[] = []
    audit.on('recorded', ({ attributes }) => news.push(attributes['n']))
    const answers = await Promise.all([
      note(1),
      note(2, { key: 'new' }),
      audit.recordCustom('test:note', { n: 3 }),
    ])
    expect(answers[0]).toEqual(first)
    expect(answers.map((event) => event!.attributes['n'])).toEqual([1, 2, 3])
    expect(await storedNumbers()).toEqual([1, 3, 2])
    expect(news).toEqual([3, 2])
  })
})
