import {
  AuditLog,
  AuditLogs,
  type AuditEvent,
  type AuditLogOptions,
  type EventStore,
  type EventTypes,
} from 'daybook'
import { memoryLogs, memoryStore } from 'daybook/memory'
import { faultyStore } from 'daybook/testing'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { useLeapingTime } from '../../support/leaping-time.js'
import { turns } from '../fake-store.js'

/* The events of counted calls: at the end of a window, at `close`, and after the process has ended. */

const MINUTE = { minutes: 1 }

const types = {
  'info:pool:full': { collapse: { by: ['pool'], window: MINUTE } },
  'api:orders:show': {
    source: '/api/orders/{order_id}',
    collapse: { by: ['username', 'source'], window: { hours: 1 } },
  },
  'warn:throttled:x': { throttle: { period: MINUTE } },
} as const satisfies EventTypes

const time = useLeapingTime()

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
})

async function pass(ms: number, steps = 1): Promise<void> {
  for (let i = 0; i < steps; i++) {
    time.leap(ms / steps)
    await vi.advanceTimersByTimeAsync(ms / steps)
    await turns()
  }
}

/** A log on a store that stays open. */
function open(
  memory: EventStore = memoryStore(),
  options: Partial<AuditLogOptions<EventTypes>> = {},
) {
  const store = faultyStore({ ...memory, close: async () => {} })
  const audit = new AuditLog<EventTypes>({ store, types, ...options })
  onTestFinished(() => audit.close())
  const counts = async (): Promise<unknown[]> => (await listed(audit)).map(countOf)
  return { audit, store, memory, counts }
}

const listed = async (audit: AuditLog): Promise<readonly AuditEvent[]> =>
  (await audit.list('limit=1000')).events

/** The count of an event; 0 for an event of one call. */
const countOf = ({ attributes: { collapsed, count, interrupted } }: AuditEvent): unknown =>
  collapsed === true ? [count, ...(interrupted === true ? ['interrupted'] : [])] : 0

const full = (audit: AuditLog, pool = 'a') => audit.record('info:pool:full', { pool, free: 0 })

it('the first call is recorded at once, the others at the end of the window', async () => {
  const { audit, counts } = open()
  expect(await full(audit)).toMatchObject({ attributes: { pool: 'a', free: 0 } })
  for (let i = 0; i < 5; i++) expect(await full(audit)).toBeUndefined()
  await full(audit, 'b')
  expect(await counts()).toEqual([0, 0])
  await pass(59_000)
  expect(await counts()).toEqual([0, 0])
  await pass(2000)
  await expect.poll(counts).toEqual([0, 0, [5]])
  const event = (await listed(audit)).at(-1)!
  expect(event).toMatchObject({
    type: 'info:pool:full',
    system: true,
    username: null,
    source: null,
  })
  expect(Object.keys(event.attributes)).toEqual([
    'pool',
    'collapsed',
    'count',
    'first_at',
    'last_at',
  ])
  await full(audit)
  expect(await counts()).toEqual([0, 0, [5], 0])
  expect(audit.stats()).toMatchObject({ calls: 8, stored: 3, suppressed: 5, waiting: 0 })
})

it('close records the event of an open window, and leaves nothing for the next process', async () => {
  const { audit, counts, store } = open()
  for (let i = 0; i < 4; i++) await full(audit)
  await pass(1000)
  await audit.close()
  expect(await counts()).toEqual([0, [3]])
  expect(await store.updateState('intents', (value) => value)).toBeUndefined()
})

/** Counts, as a process that is killed: it does nothing more. */
async function killed(memory: EventStore, calls: number, late: number): Promise<void> {
  const dead = { isDead: false }
  const store = {
    ...memory,
    close: async () => {},
    append: (...args: Parameters<EventStore['append']>) =>
      dead.isDead ? Promise.reject(new Error('killed')) : memory.append(...args),
    updateState: (...args: Parameters<EventStore['updateState']>) =>
      dead.isDead ? Promise.reject(new Error('killed')) : memory.updateState(...args),
  }
  const { audit } = open(store)
  audit.on('rejected', () => {})
  for (let i = 0; i < calls; i++) await full(audit)
  await pass(1000)
  for (let i = 0; i < late; i++) await full(audit)
  dead.isDead = true
}

it.each([
  ['no count', 1, 0, [0]],
  ['counts that are saved', 6, 0, [0, [5, 'interrupted']]],
  ['counts of its last second', 6, 3, [0, [5, 'interrupted']]],
])('the next process records what a killed one has saved: %s', async (...row) => {
  const [, calls, late, expected] = row
  const memory = memoryStore()
  await killed(memory, calls, late)
  const next = open(memory)
  await pass(60_000, 12)
  await expect.poll(next.counts).toEqual(expected)
  await pass(60_000, 12)
  expect(await next.counts()).toEqual(expected)
})

it('a process that stood still records what another one lacks', async () => {
  const memory = memoryStore()
  let release = (): void => {}
  let frozen = Promise.resolve()
  const updateState: EventStore['updateState'] = async (...args) => {
    await frozen
    return memory.updateState(...args)
  }
  const still = open({ ...memory, updateState })
  for (let i = 0; i < 4; i++) await full(still.audit)
  await still.audit.flush()
  // It sends no heartbeat meanwhile.
  frozen = new Promise((resolve) => (release = resolve))
  const other = open(memory)
  await pass(40_000, 8)
  await expect.poll(other.counts).toEqual([0, [3, 'interrupted']])
  release()
  for (let i = 0; i < 2; i++) await full(still.audit)
  await pass(40_000, 8)
  const expected = [0, [3, 'interrupted'], [2]]
  await expect.poll(other.counts).toEqual(expected)
  await pass(60_000, 12)
  expect(await other.counts()).toEqual(expected)
})

it('an event that the store refuses is recorded later, once', async () => {
  const { audit, store, counts } = open()
  for (let i = 0; i < 3; i++) await full(audit)
  await audit.flush()
  store.fail('append', 2)
  await pass(80_000, 16)
  await expect.poll(counts).toEqual([0, [2]])
  await pass(60_000, 12)
  expect(await counts()).toEqual([0, [2]])
})

it('counts that the store does not keep are saved again', async () => {
  const { audit, store, memory } = open()
  store.fail('updateState', 2)
  for (let i = 0; i < 3; i++) await full(audit)
  await pass(4000, 8)
  const owners = Object.keys((await memory.updateState('intents', (value) => value)) ?? {})
  const saved = await memory.updateState(`intents:${owners[0]}`, (value) => value)
  expect(Object.values(saved!)).toMatchObject([{ attributes: { count: 2, interrupted: true } }])
})

it.each<[string, readonly [string, object, object?][], unknown[]]>([
  [
    'users',
    [
      ['api:orders:show', { order_id: 'A-1' }, { username: 'ann' }],
      ['api:orders:show', { order_id: 'A-1' }, { username: 'bob' }],
      ['api:orders:show', { order_id: 'A-1', page: 2 }, { username: 'ann' }],
    ],
    [
      ['ann', '/api/orders/A-1', 0],
      ['bob', '/api/orders/A-1', 0],
      ['ann', '/api/orders/A-1', [1]],
    ],
  ],
  [
    'sources',
    [
      ['api:orders:show', { order_id: 'A-1' }],
      ['api:orders:show', { order_id: 'A-2' }],
      ['api:orders:show', { order_id: 'A-2' }],
      ['api:orders:show', {}],
    ],
    [
      [null, '/api/orders/A-1', 0],
      [null, '/api/orders/A-2', 0],
      [null, null, 0],
      [null, '/api/orders/A-2', [1]],
    ],
  ],
  [
    'a call with a rule of its own',
    [
      ['free', { n: 1 }, { collapse: { by: ['n'], window: MINUTE }, source: '/api/a' }],
      ['free', { n: 1 }, { collapse: { by: ['n', 'source'], window: MINUTE }, source: '/api/a' }],
      ['free', { n: 1 }, { collapse: { by: ['n', 'source'], window: MINUTE }, source: '/api/a' }],
      ['free', { n: { a: 1 } }, { collapse: { by: ['n'], window: MINUTE } }],
      ['free', { n: { a: 1 } }, { collapse: { by: ['n'], window: MINUTE } }],
    ],
    [
      [null, '/api/a', 0],
      [null, '/api/a', 0],
      [null, null, 0],
      [null, '/api/a', [1]],
      [null, null, [1]],
    ],
  ],
  [
    'a value that cannot be read',
    [
      ['info:pool:full', throwing()],
      ['info:pool:full', throwing()],
    ],
    [
      [null, null, 0],
      [null, null, 0],
    ],
  ],
])('calls are counted by their values: %s', async (_case, calls, expected) => {
  const { audit } = open()
  for (const [type, data, options] of calls) await audit.recordSystem(type, data, options)
  await audit.close()
  const found = await listed(audit)
  expect(found.map((event) => [event.username, event.source, countOf(event)])).toEqual(expected)
})

function throwing(): object {
  return {
    get pool(): string {
      throw new Error('no pool')
    },
  }
}

it('windows end early to make room, and calls beyond that are counted together', async () => {
  const { audit } = open()
  const calls: Promise<unknown>[] = []
  // Each of the first 1,000 windows has a count.
  for (let i = 0; i < 3000; i++) calls.push(full(audit, `p${i}`), full(audit, `p${i}`))
  await Promise.all(calls)
  expect(audit.stats()).toMatchObject({ calls: 6000 })
  await audit.close()
  const found: AuditEvent[] = []
  for await (const events of audit.pages()) found.push(...events)
  const counted = found.filter((event) => countOf(event) !== 0)
  const sum = counted.reduce((all, { attributes }) => all + (attributes['count'] as number), 0)
  expect(found.length - counted.length + sum).toBe(6000)
  const together = counted.filter(({ type }) => type === 'info:audit_log:collapsed')
  expect(together.map(({ attributes }) => [attributes['count'], attributes['types']])).toEqual([
    [1999, ['info:pool:full']],
  ])
})

const wrongRules: readonly (readonly [string, unknown, string])[] = [
  ['no names', { by: [], window: MINUTE }, 'by must list names: username, source or data keys'],
  ['a text', { by: 'username', window: MINUTE }, 'by must list names'],
  ['no window', { by: ['n'] }, 'window must be a date-fns Duration of at most a day'],
  ['a long window', { by: ['n'], window: { days: 2 } }, 'window must be a date-fns Duration'],
  ['a misspelt name', { by: ['n'], windows: MINUTE }, 'did you mean window?'],
]

it.each(wrongRules)('a wrong rule is refused: %s', async (_case, rule, message) => {
  const collapse = rule as { by: string[]; window: object }
  const { audit } = open()
  audit.on('rejected', () => {})
  const call = audit.recordSystem('free', {}, { collapse })
  await expect(call).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  await expect(call).rejects.toThrow(message)
  const define = () =>
    new AuditLog<EventTypes>({ store: memoryStore(), types: { free: { collapse } } })
  expect(define).toThrow(message)
})

it('a throttle and a collapse exclude each other', async () => {
  const collapse = { by: ['n'], window: MINUTE }
  const { audit } = open()
  audit.on('rejected', () => {})
  const throttle = { period: MINUTE, scope: {} }
  await expect(audit.recordSystem('a', {}, { collapse, throttle })).rejects.toThrow(
    'a call with collapse takes no throttle',
  )
  await expect(audit.recordSystem('a', {}, { collapse, transaction: {} })).rejects.toThrow(
    'a call with collapse takes no transaction',
  )
  await expect(audit.recordSystem('a', {}, { source: 'api' })).rejects.toThrow(
    'source must be a path',
  )
  const openWith = (options: object) => () =>
    new AuditLog({ store: memoryStore(), types, ...options })
  const both = { 'info:a': { collapse, throttle: { period: MINUTE } } }
  expect(openWith({ types: both })).toThrow('a type with collapse has no throttle')
  expect(openWith({ types: { 'info:a': { collapse, live: true } } })).toThrow('has no live')
  expect(openWith({ throttles: { 'info:pool:full': MINUTE } })).toThrow(
    'a type with collapse has no throttle',
  )
  // The throttle of a type comes first.
  for (let i = 0; i < 3; i++) await audit.recordSystem('warn:throttled:x', {}, { collapse })
  await audit.close()
  const stored = (await listed(audit)).filter(({ type }) => type === 'warn:throttled:x')
  expect(stored).toHaveLength(1)
})

it('reads in code are counted by user, record and purpose', async () => {
  const links = [
    { attribute: 'order_id', kind: 'code', path: '/api/orders/{order_id}', rank: 1 },
  ] as const
  const { audit } = open(memoryStore(), { links })
  const ann = { username: 'ann' }
  await audit.read('/api/orders/A-1', ann)
  await audit.read({ order_id: 'A-1' }, { ...ann, purpose: 'billing' })
  await audit.read({ order_id: 'A-1' }, { ...ann, purpose: 'billing' })
  await audit.read({ serial: 7 }, ann)
  await audit.read({ serial: 8 }, { username: 'bob' })
  await audit.recordSystem(
    'api:orders:index',
    { access: 'read', read_ids: ['A-1'] },
    { ...ann, source: '/api/orders' },
  )
  await audit.recordCustom(
    'api:orders:show',
    { access: 'read', order_id: 'A-1' },
    { username: 'eve' },
  )
  await expect(audit.read('orders')).rejects.toMatchObject({ code: 'INVALID_VALUE' })
  await expect(audit.read('/a', { purpose: 1 as never })).rejects.toThrow('purpose must be a text')
  const row = { username: 'ann', exact: true }
  const check = async (): Promise<void> => {
    expect(await audit.subjectReads('/api/orders/A-1')).toMatchObject([{ ...row, count: 4 }])
    expect(await audit.subjectReads({ order_id: 'A-1' })).toMatchObject([{ ...row, count: 4 }])
    expect(await audit.subjectReads({ serial: 7 })).toMatchObject([{ ...row, count: 1 }])
    expect(await audit.subjectReads('/api/orders/A-2')).toEqual([])
  }
  await check()
  await audit.close()
  await check()
})

it('reads are found at every moment of a window, once', async () => {
  const { audit, store, memory } = open()
  const other = open(memory)
  const found = async (log: AuditLog): Promise<unknown[]> =>
    (await log.subjectReads('/a')).map(({ count, exact }) => [count, exact])
  const read = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++) await audit.read('/a', { username: 'ann' })
  }
  await read(3)
  expect(await found(other.audit)).toEqual([[1, true]])
  await pass(1000)
  await read(2)
  expect(await found(audit)).toEqual([[5, true]])
  expect(await found(other.audit)).toEqual([[3, false]])
  // The event at the end of the window is refused, and stored later. The intent stays for a while.
  store.fail('append', 2)
  await pass(3_600_000)
  expect(await found(audit)).toEqual([[5, true]])
  await pass(20_000, 4)
  await expect.poll(() => found(audit)).toEqual([[5, true]])
  expect(await found(other.audit)).toEqual([[5, true]])
})

it('a failure of the store is one of subjectReads', async () => {
  const { audit, store } = open()
  store.fail('readStates')
  await expect(audit.subjectReads('/a')).rejects.toMatchObject({ code: 'STORE_FAILED' })
})

it('one of many logs does not stay open for its windows', async () => {
  const logs = new AuditLogs<EventTypes>({ stores: memoryLogs(), types, idleMs: 30_000 })
  onTestFinished(() => logs.close())
  for (let i = 0; i < 3; i++) await logs.log('acme').read('/p/1', { username: 'ann' })
  const stored = async () => (await logs.log('acme').list()).events.length
  await pass(15_000, 3)
  expect(await stored()).toBe(1)
  await pass(10_000, 5)
  await expect.poll(stored).toBe(2)
  expect(await logs.log('acme').subjectReads('/p/1')).toMatchObject([{ count: 3 }])
  await pass(120_000, 24)
  expect(logs.openCount).toBe(0)
})
