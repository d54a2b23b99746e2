import {
  AuditLog,
  AuditLogError,
  AuditLogs,
  type AuditEvent,
  type AuditLogOptions,
  type EventStore,
  type EventTypes,
  type Intent,
  type JsonValue,
  withActor,
} from 'daybook'
import { memoryLogs, memoryStore } from 'daybook/memory'
import { type FaultyStore, faultyStore } from 'daybook/testing'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { useLeapingTime } from '../../support/leaping-time.js'
import { turns } from '../fake-store.js'
import { memoryJournal } from '../memory-journal.js'

const types = {
  'info:strict': { data: ['n'] },
  'warn:throttled:g': { throttle: { period: { hours: 1 } } },
} as const

const time = useLeapingTime()

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
})

const stateOf = (store: FaultyStore): Promise<JsonValue | undefined> =>
  store.updateState('intents', (value) => value)

/** A log and its store. Closing the log does not close the store. */
function open(options: Partial<AuditLogOptions<EventTypes>> = {}, memory = memoryStore()) {
  const store = faultyStore({ ...memory, close: async () => {} })
  const audit = new AuditLog<EventTypes>({ store, types, ...options })
  onTestFinished(() => audit.close())
  audit.on('rejected', () => {})
  const stored = async (): Promise<unknown[]> =>
    (await audit.list()).events.map(({ type, attributes }) => [type, attributes])
  return { audit, store, memory, intents: audit.intents(), stored }
}

/** Fakes all timers, including the first look of a log that opens no intents. */
const fakeAllTimers = (): void =>
  void vi.useFakeTimers({
    toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'],
  })

/** A log that opens no intents. */
function observe(memory: EventStore) {
  const store = faultyStore({ ...memory, close: async () => {} })
  const audit = new AuditLog<EventTypes>({ store, types })
  onTestFinished(() => audit.close())
  return { audit, store }
}

async function check(times = 1): Promise<void> {
  for (let i = 0; i < times; i++) {
    time.leap(5000)
    await vi.advanceTimersByTimeAsync(5000)
    await turns()
  }
}

it('close leaves nothing in the store if no intent is open', async () => {
  const { audit, intents, store } = open()
  const intent = await intents.open('a', {})
  await intent.record('b', {})
  expect(await stateOf(store)).toBeDefined()
  await audit.close()
  expect(await stateOf(store)).toBeUndefined()
  await expect(intents.open('a', {})).rejects.toMatchObject({ code: 'CLOSED' })
})

it('close leaves an open intent to the next process, also if its outcome is too late', async () => {
  const { audit, intents, memory } = open()
  const late = await intents.open('late', { n: 1 }, { username: 'ann' })
  await intents.open('open', { n: 2 })
  await audit.close()
  await expect(late.record('b', {})).rejects.toMatchObject({ code: 'CLOSED' })
  const next = open({}, memory)
  await check(6)
  await expect.poll(next.stored).toMatchObject([
    ['late', { n: 1, occurred_at: expect.any(String) as string }],
    ['open', { n: 2 }],
  ])
  expect((await next.audit.list('filter[username_eq]=ann')).events).toHaveLength(1)
  await expect.poll(() => stateOf(next.store)).toBeUndefined()
})

it('takes over nothing from a live process', async () => {
  const { intents, memory, stored } = open()
  await intents.open('a', {})
  open({}, memory)
  await check(10)
  expect(await stored()).toEqual([])
})

it('a slow takeover does not delay the next one', async () => {
  const { audit, intents, memory } = open()
  await intents.open('first', {})
  await audit.close()
  let release = (): void => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const updateState: typeof memory.updateState = async (key, ...rest) => {
    if (key.startsWith('intents:')) await released
    return memory.updateState(key, ...rest)
  }
  const { stored } = open({}, { ...memory, updateState })
  await check(3)
  const second = open({}, memory)
  await second.intents.open('second', {})
  await second.audit.close()
  await check(7)
  expect(await stored()).toEqual([])
  release()
  await expect.poll(stored).toMatchObject([['first', {}]])
  await check(2)
  await expect.poll(stored).toMatchObject([
    ['first', {}],
    ['second', {}],
  ])
})

it('an outcome that strict mode refuses is recorded later', async () => {
  const { intents, stored } = open({ strict: true })
  const intent = await intents.open('a', {})
  const recording = intent.record('info:strict', { m: 1 })
  await expect(recording).rejects.toMatchObject({ code: 'INVALID_DATA' })
  await check()
  await expect.poll(stored).toEqual([['info:strict', { m: 1 }]])
})

it('an outcome that cannot be an event becomes the event of the intent, with the error', async () => {
  const { intents, stored } = open()
  const intent = await intents.open('a', { error: 'interrupted', n: 1 })
  await expect(intent.record('', {})).rejects.toMatchObject({ code: 'INVALID_EVENT' })
  await check()
  const error = 'the event type must have 1 to 255 characters'
  await expect.poll(stored).toMatchObject([['a', { n: 1, error }]])
})

it('an intent becomes one event through the journal', async () => {
  const journal = memoryJournal()
  const { intents, store, stored } = open({ journal, failurePolicy: 'queue' })
  const intent = await intents.open('a', {})
  store.fail('append', 1)
  expect(await intent.record('b', {})).toBeUndefined()
  expect(journal.length).toBe(1)
  await expect.poll(() => journal.length).toBe(0)
  await check(6)
  await expect.poll(stored).toMatchObject([['b', {}]])
})

it('no intent is dropped', async () => {
  const { intents, store, stored } = open({ failurePolicy: 'drop' })
  const intent = await intents.open('a', {})
  store.fail('append', 1)
  await expect(intent.record('b', {})).rejects.toMatchObject({ code: 'STORE_FAILED' })
  await check()
  await expect.poll(stored).toMatchObject([['b', {}]])
})

it('an outcome that its throttle suppresses leaves no intent', async () => {
  const { audit, intents, stored } = open()
  await audit.record('warn:throttled:g')
  const intent = await intents.open('a', {})
  expect(await intent.record('warn:throttled:g', {})).toBeUndefined()
  await audit.close()
  expect(await stored()).toHaveLength(1)
})

it('opening rejects if the store does not answer in time, or too many are open', async () => {
  const hanging = open({ waiting: { deadlineMs: 30 } })
  hanging.store.hang('updateState')
  await expect(hanging.intents.open('a', {})).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' })
  hanging.store.heal()
  const { intents } = open({ waiting: { maxWaiting: 1 } })
  await intents.open('b', {})
  await expect(intents.open('c', {})).rejects.toMatchObject({ code: 'QUEUE_FULL' })
})

it('the event of an intent has the actor of its opening', async () => {
  const { audit, intents, stored } = open()
  const actor = { username: 'ann', on_behalf_of: 'bob' }
  const intent = await withActor(actor, () => intents.open('a', {}))
  await intent.fail('broken')
  await expect.poll(stored).toMatchObject([['a', { error: 'broken', on_behalf_of: 'bob' }]])
  expect((await audit.list()).events[0]!.username).toBe('ann')
})

it('a failure has the source of its type, and lists replaced values', async () => {
  const ofType = { 'a:b': { source: '/api/workflows/{workflow_id}' } }
  const limits = { maxBytes: 4096 }
  const { audit, intents, memory } = open({ types: ofType, limits, strict: true })
  const data = { workflow_id: 'w', n: NaN, text: 'x'.repeat(2000) }
  const intent = await intents.open('a:b', data)
  const left = await intents.open('a:b', data)
  const event = await intent.fail('broken\u0000')
  expect(event).toMatchObject({
    source: '/api/workflows/w',
    attributes: { error: 'broken\ufffd', recording: { replaced: ['/n', '/error'], cut_bytes: 0 } },
  })
  const long = await left.fail(new Error('z'.repeat(10_000)))
  expect(JSON.stringify(long!.attributes).length).toBeLessThanOrEqual(4096)
  expect(long!.attributes).toMatchObject({ error: expect.stringMatching(/^z+/) as string })
  await intents.open('a:b', data)
  await audit.close()
  open({}, memory)
  await check(6)
  const { events } = await observe(memory).audit.list('filter[unfinished_true]=1')
  const recording = { replaced: ['/n'], cut_bytes: 0 }
  expect(events).toMatchObject([{ source: '/api/workflows/w', attributes: { recording } }])
})

it('opening rejects as record does', async () => {
  const throwing = (): never => {
    throw new Error('from the host')
  }
  const links = [{ attribute: 'node_id', kind: 'uuid', path: '/n/{node_id}', rank: 1 }] as const
  const { audit, intents } = open({ strict: true, links, resolveSource: throwing })
  const calls: readonly [Parameters<typeof intents.open>, string][] = [
    [['info:strict', { m: 1 }], 'INVALID_DATA'],
    [['', {}], 'INVALID_EVENT'],
    [['a', { node_id: '0198c0de-0000-7000-8000-000000000000' }], 'INVALID_EVENT'],
    [['a', { node_id: 'n' }], 'INVALID_LINK'],
    [['a', {}, { user: 'ann' } as object], 'INVALID_OPTION'],
  ]
  for (const [call, expected] of calls)
    await expect(intents.open(...call)).rejects.toMatchObject({ code: expected })
  await audit.close()
  await expect(intents.open('a')).rejects.toMatchObject({ code: 'CLOSED' })
})

interface Failing {
  readonly intent: Intent
  readonly audit: AuditLog
  readonly store: FaultyStore
  /** Ends the process. Afterwards none of its calls reaches the store. */
  readonly die: () => void
}

const broken = new Error('broken')
const code = (expected: string) => ({ code: expected })
const failed = ['a', { n: 1, error: 'broken' }]
const unfinished = [
  'a',
  { n: 1, unfinished: true, error: 'the process ended before the outcome was recorded' },
]
const done = ['b', { m: 1 }]

/** Calls on an intent, and the event that the log must have in the end. */
const orders: readonly [
  name: string,
  run: (given: Failing) => Promise<unknown>,
  event: readonly unknown[] | undefined,
][] = [
  ['nothing', async ({ die }) => die(), unfinished],
  ['fail', async ({ intent }) => intent.fail(broken), failed],
  ['fail, the end', async ({ intent, die }) => intent.fail(broken).then(die), failed],
  [
    'the end while fail waits for the store',
    async ({ intent, store, die }) => {
      store.hang('append')
      intent.fail(broken).catch(() => {})
      die()
    },
    unfinished,
  ],
  [
    'fail without events being stored, the end',
    async ({ intent, store, die }) => {
      store.fail('append')
      await expect(intent.fail(broken)).rejects.toMatchObject(code('STORE_FAILED'))
      await turns()
      die()
    },
    failed,
  ],
  [
    'fail without a store, the end',
    async ({ intent, die }) => {
      die()
      await expect(intent.fail(broken)).rejects.toMatchObject(code('STORE_FAILED'))
    },
    unfinished,
  ],
  [
    'fail without a store, which comes back',
    async ({ intent, store, die }) => {
      die()
      await expect(intent.fail(broken)).rejects.toMatchObject(code('STORE_FAILED'))
      store.heal()
      await check()
    },
    failed,
  ],
  [
    'fail without events being stored, close',
    async ({ intent, store, audit }) => {
      store.fail('append')
      await expect(intent.fail(broken)).rejects.toMatchObject(code('STORE_FAILED'))
      await audit.close()
    },
    failed,
  ],
  [
    'fail during close',
    async ({ intent, audit }) => {
      const closing = audit.close()
      await expect(intent.fail(broken)).rejects.toMatchObject(code('CLOSED'))
      await closing
    },
    failed,
  ],
  [
    'fail and cancel after close',
    async ({ intent, audit }) => {
      await audit.close()
      await expect(intent.cancel()).rejects.toMatchObject(code('CLOSED'))
      await expect(intent.fail(broken)).rejects.toMatchObject(code('CLOSED'))
    },
    unfinished,
  ],
  [
    'fail twice',
    async ({ intent }) => {
      const both = await Promise.all([intent.fail(broken), intent.fail(new Error('other'))])
      expect(both[0]).toBeDefined()
      expect([both[1], await intent.fail('third')]).toEqual([both[0], both[0]])
    },
    failed,
  ],
  [
    'fail twice, the first time without a store',
    async ({ intent, store }) => {
      store.fail('append', 1)
      const first = intent.fail(broken)
      const second = intent.fail(new Error('other'))
      await expect(first).rejects.toMatchObject(code('STORE_FAILED'))
      await expect(second).resolves.toMatchObject({ type: 'a' })
    },
    failed,
  ],
  [
    'fail, record',
    async ({ intent }) => {
      const failing = intent.fail(broken)
      await expect(intent.record('b', { m: 1 })).rejects.toMatchObject(code('INTENT_ENDED'))
      await failing
      await expect(intent.record('a', { m: 1 })).rejects.toMatchObject(code('INTENT_ENDED'))
    },
    failed,
  ],
  [
    'fail without a store, record, cancel',
    async ({ intent, store }) => {
      store.fail('append', 1)
      await expect(intent.fail(broken)).rejects.toMatchObject(code('STORE_FAILED'))
      await expect(intent.record('b', { m: 1 })).rejects.toMatchObject(code('INTENT_ENDED'))
      await intent.cancel()
      await check()
    },
    failed,
  ],
  [
    'record, fail',
    async ({ intent }) => {
      const recording = intent.record('b', { m: 1 })
      const failing = await intent.fail(broken)
      expect(failing).toEqual(await recording)
      await intent.cancel()
    },
    done,
  ],
  [
    'record without a store, fail',
    async ({ intent, store }) => {
      store.fail('append', 1)
      await expect(intent.record('b', { m: 1 })).rejects.toMatchObject(code('STORE_FAILED'))
      await intent.fail(broken)
    },
    failed,
  ],
  [
    'record without events being stored, the end',
    async ({ intent, store, die }) => {
      store.fail('append')
      await expect(intent.record('b', { m: 1 })).rejects.toMatchObject(code('STORE_FAILED'))
      await turns()
      die()
    },
    done,
  ],
  [
    'record twice, the first time without a store',
    async ({ intent, store }) => {
      store.fail('append', 1)
      await expect(intent.record('c', { m: 0 })).rejects.toMatchObject(code('STORE_FAILED'))
      await intent.record('b', { m: 1 })
    },
    done,
  ],
  [
    'record twice',
    async ({ intent }) => {
      const [one, other] = [intent.record('b', { m: 1 }), intent.record('b', { m: 2 })]
      const event: AuditEvent | undefined = await one
      expect(await other).toEqual(event)
      await expect(intent.record('c', {})).rejects.toMatchObject(code('INTENT_ENDED'))
    },
    done,
  ],
  [
    'cancel, fail, record',
    async ({ intent }) => {
      await intent.cancel()
      await expect(intent.fail(broken)).rejects.toMatchObject(code('INTENT_ENDED'))
      await expect(intent.record('b', {})).rejects.toMatchObject(code('INTENT_ENDED'))
    },
    undefined,
  ],
  [
    'another process records the intent, fail',
    async ({ intent, store }) => {
      store.fail('updateState')
      await check(6)
      expect(await intent.fail(broken)).toMatchObject({ attributes: unfinished[1] })
      store.heal()
    },
    unfinished,
  ],
]

describe('exactly one event, which reports success only after the action', () => {
  beforeEach(fakeAllTimers)

  it.each(orders)('%s', async (_name, run, event) => {
    const { audit, intents, store, memory } = open()
    const intent = await intents.open('a', { n: 1 })
    const other = observe(memory)
    const die = (): void => {
      store.fail('append')
      store.fail('updateState')
    }
    await run({ intent, audit, store, die })
    await check(7)
    const stored = async () =>
      (await other.audit.list()).events.map(({ type, attributes }) => [type, attributes])
    await expect.poll(stored).toMatchObject(event ? [event] : [])
    const { events } = await other.audit.list()
    const isDone = event === done || event === unfinished
    if (event) expect(events[0]!.attributes['backtrace']).toEqual(isDone ? undefined : broken.stack)
    if (event === failed) expect(events[0]!.attributes).not.toHaveProperty('unfinished')
    store.heal()
  })
})

it('a failure follows an outcome that was stored although its call was rejected', async () => {
  const memory = memoryStore()
  let isKept = false
  const append: EventStore['append'] = async (drafts, given) => {
    const events = await memory.append(drafts, given)
    if (!isKept || drafts[0]!.type !== 'b') return events
    throw new AuditLogError('OUTCOME_UNKNOWN', 'not confirmed')
  }
  const { intents, store, stored } = open({}, { ...memory, append })
  const [kept, later] = [await intents.open('a', {}), await intents.open('a', {})]
  isKept = true
  await expect(kept.record('b', {})).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
  isKept = false
  expect(await kept.fail('broken')).toMatchObject({ type: 'a', attributes: { error: 'broken' } })
  store.fail('append', 1)
  await expect(later.record('b', {})).rejects.toMatchObject({ code: 'STORE_FAILED' })
  await check()
  await expect.poll(stored).toHaveLength(3)
  const event = await later.fail('late')
  expect(await later.fail('later')).toEqual(event)
  await check(8)
  expect(await stored()).toMatchObject([
    ['b', {}],
    ['a', { error: 'broken' }],
    ['b', {}],
    ['a', { error: 'late' }],
  ])
})

describe('every log records the intents of ended processes', () => {
  beforeEach(fakeAllTimers)

  /** A process with an open intent that has ended. */
  async function end(memory: EventStore, type = 'a'): Promise<void> {
    const { audit, intents } = open({}, memory)
    await intents.open(type, {})
    await audit.close()
  }
  const typesIn = async (memory: EventStore): Promise<string[]> =>
    (await observe(memory).audit.list()).events.map(({ type }) => type)

  it('only one log records them, the others wait', async () => {
    const memory = memoryStore()
    await end(memory)
    const others = Array.from({ length: 4 }, () => observe(memory))
    const appends = others.map(({ store }) => vi.spyOn(store, 'append'))
    await check(10)
    await expect.poll(() => typesIn(memory)).toEqual(['a'])
    expect(appends.flatMap(({ mock }) => mock.calls)).toHaveLength(1)
    expect(await stateOf(others[0]!.store)).toBeUndefined()
  })

  it('the next log, if the first one ends while it records them', async () => {
    const memory = memoryStore()
    await end(memory)
    const first = observe(memory)
    first.store.fail('append')
    await check(5)
    const claimed = await stateOf(first.store)
    expect(Object.values(claimed as object)).toEqual([expect.any(Number)])
    await first.audit.close()
    observe(memory)
    await check(6)
    await expect.poll(() => typesIn(memory)).toEqual(['a'])
  })

  it('even of a process that ends long after the log was opened, once the log stores an event', async () => {
    const memory = memoryStore()
    const { audit, store } = observe(memory)
    const read = vi.spyOn(store, 'readStates')
    await check(3)
    expect(read).toHaveBeenCalledTimes(1)
    await end(memory)
    await audit.recordSystem('b')
    await check(10)
    expect(read).toHaveBeenCalledTimes(1)
    time.leap(60_000)
    await audit.recordSystem('c')
    await check(6)
    await expect.poll(() => typesIn(memory)).toEqual(['b', 'c', 'a'])
  })

  it('a refused event does not block other events', async () => {
    const memory = memoryStore()
    const { audit, intents } = open({}, memory)
    for (const type of ['a', 'refused', 'b']) await intents.open(type, {})
    await audit.close()
    const append: EventStore['append'] = (drafts, given) => {
      if (drafts.some(({ type }) => type === 'refused')) throw new Error('refused')
      return memory.append(drafts, given)
    }
    const refusing = observe({ ...memory, tuning: { maxBatch: 1 }, append })
    await check(6)
    await expect.poll(() => typesIn(memory)).toEqual(['a', 'b'])
    await refusing.audit.close()
    observe(memory)
    await check(6)
    await expect.poll(() => typesIn(memory)).toEqual(['a', 'b', 'refused'])
  })

  it('but not a read-only log', async () => {
    const memory = memoryStore()
    await end(memory)
    const timers = vi.getTimerCount()
    const audit = new AuditLog({ store: memory, types, readOnly: true })
    const code = 'READ_ONLY'
    await expect(audit.intents().open('info:strict')).rejects.toMatchObject({ code })
    expect(vi.getTimerCount()).toBe(timers)
  })

  it('one of many logs, without another timer, and without opening a log or keeping it open', async () => {
    const stores = memoryLogs()
    const [first, logs] = [0, 1].map(() => new AuditLogs({ stores, types, idleMs: 20_000 }))
    const left: AuditLog = first!.log('x')
    await left.intents().open('a', {})
    await left.close()
    const audit: AuditLog = logs!.log('x')
    for (let i = 0; i < 7; i++) {
      await audit.list()
      await check()
    }
    expect((await audit.list()).events.map(({ type }) => type)).toEqual(['a'])
    await check(20)
    expect([logs!.openCount, vi.getTimerCount()]).toEqual([0, 0])
    await Promise.all([first!.close(), logs!.close()])
  })
})
