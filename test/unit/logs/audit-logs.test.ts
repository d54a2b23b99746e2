import {
  type AuditEvent,
  AuditLogError,
  AuditLogs,
  type AuditLogsOptions,
  type Channel,
  type LogEvent,
  type LogStores,
} from 'daybook'
import { memoryLogs } from 'daybook/memory'
import { expect, it, vi } from 'vitest'
import { manualClock } from 'daybook/testing'
import { DAY, MINUTE } from '../../../src/event/timestamp.js'
import { numberedId, plainEvent } from '../../support/plain-events.js'

const eventually = <Result>(check: () => Result) => vi.waitFor(check, { timeout: 60_000 })

const TYPES = { note: {}, other: {} } as const
type Options = Partial<AuditLogsOptions<typeof TYPES>>

/** The stores, and how often each log was opened and closed. */
function countedStores(stores: LogStores = memoryLogs()) {
  const opened = new Map<string, number>()
  const closed = new Map<string, number>()
  const add = (counts: Map<string, number>, key: string) =>
    void counts.set(key, (counts.get(key) ?? 0) + 1)
  const counted: LogStores = {
    ...stores,
    open(key) {
      const store = stores.open(key)
      add(opened, key)
      return {
        ...store,
        async close() {
          add(closed, key)
          await store.close()
        },
      }
    },
  }
  const isOpen = (key: string) => (opened.get(key) ?? 0) > (closed.get(key) ?? 0)
  return { stores: counted, opened, closed, isOpen }
}

const open = (options: Options = {}) =>
  new AuditLogs({ stores: memoryLogs(), types: TYPES, ...options })

const texts = (events: readonly LogEvent[]) =>
  events.map(({ log, event }) => `${log} ${event.attributes['n'] as string}`)

/** An event to import at this second. */
const at = (second: number, n: number): AuditEvent =>
  plainEvent({
    id: numberedId(n),
    created_at: `2026-01-01T00:00:${String(second).padStart(2, '0')}.000000Z`,
    type: 'note',
    attributes: { n },
  })

async function take<Item>(items: AsyncIterable<Item>, count: number): Promise<Item[]> {
  const taken: Item[] = []
  for await (const item of items) {
    taken.push(item)
    if (taken.length === count) break
  }
  return taken
}

it('opens a log by its key, once, and closes it with the others', async () => {
  const { stores, opened, closed } = countedStores()
  const logs = open({ stores })
  const log = logs.log('acme')
  expect(logs.log('acme')).toBe(log)
  await Promise.all([log.record('note'), logs.log('acme').record('note'), log.list()])
  expect((await log.list()).events).toHaveLength(2)
  expect(opened).toEqual(new Map([['acme', 1]]))
  await logs.close()
  await logs.close()
  expect(closed).toEqual(new Map([['acme', 1]]))
  expect(() => logs.log('acme')).toThrow(expect.objectContaining({ code: 'CLOSED' }))
  await expect(log.list()).rejects.toMatchObject({ code: 'CLOSED' })
  await expect(logs.list()).rejects.toMatchObject({ code: 'CLOSED' })
})

it('waits for the calls in progress when it is closed', async () => {
  const logs = open()
  const recorded = Array.from({ length: 20 }, (_, i) => logs.log(`log ${i}`).record('note'))
  await logs.close()
  for (const event of await Promise.all(recorded)) expect(event).toMatchObject({ type: 'note' })
})

it('retries to open a log after a failure', async () => {
  const stores = memoryLogs()
  let failures = 1
  await using logs = open({
    stores: {
      ...stores,
      open(key) {
        if (failures-- > 0) throw new Error('no disk')
        return stores.open(key)
      },
    },
  })
  expect(() => logs.log('acme')).toThrow('no disk')
  await logs.log('acme').record('note')
})

it.each(['', 'x'.repeat(56), 'ü'.repeat(28), 'a\nb', '\uD800', 7])(
  'refuses the key %j',
  async (key) => {
    await using logs = open()
    const invalid = expect.objectContaining({ code: 'INVALID_VALUE', parameter: 'logs' })
    expect(() => logs.log(key as string)).toThrow(invalid)
    await expect(logs.find(key as string)).rejects.toEqual(invalid)
    await expect(logs.list({}, { logs: [key as string] })).rejects.toEqual(invalid)
  },
)

it.each([
  { maxOpen: 0 },
  { idleMs: 99 },
  { roundMs: 1, cleaning: { rules: [] } },
  { stores: {} as LogStores },
])('refuses the options %j', (options) => {
  expect(() => open(options)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
})

it('finds existing logs only, and lists their keys in pages', async () => {
  await using logs = open()
  for (const key of ['b', 'a', '\u{1F600}', '\uFFFD', 'B']) await logs.log(key).record('note')
  expect(await logs.find('none')).toBeUndefined()
  expect(await logs.find('a')).toBe(logs.log('a'))
  // Sorted by code points, not by UTF-16 units.
  expect(await logs.keys()).toEqual(['B', 'a', 'b', '\uFFFD', '\u{1F600}'])
  expect(await logs.keys({ limit: 2 })).toEqual(['B', 'a'])
  expect(await logs.keys({ after: 'a', limit: 2 })).toEqual(['b', '\uFFFD'])
  await expect(logs.keys({ limit: 0 })).rejects.toMatchObject({ code: 'INVALID_VALUE' })
  await expect(logs.list({}, { logs: ['a', 'none'] })).rejects.toMatchObject({
    code: 'UNKNOWN_LOG',
  })
  expect(await logs.find('none')).toBeUndefined()
})

it('closes the least recently used logs beyond the maximum, and opens them again', async () => {
  const { stores, opened, isOpen } = countedStores()
  await using logs = open({ stores, maxOpen: 2 })
  const [a, b, c] = ['a', 'b', 'c'].map((key) => logs.log(key))
  await a!.record('note', { n: 1 })
  await b!.record('note')
  await eventually(() => expect(isOpen('c')).toBe(false))
  await a!.record('note', { n: 2 })
  await c!.record('note')
  await eventually(() => expect(['a', 'b', 'c'].map(isOpen)).toEqual([true, false, true]))
  expect((await b!.list()).events).toHaveLength(1)
  expect(opened.get('b')).toBeGreaterThan(1)
  await eventually(() => expect(logs.openCount).toBe(2))
})

it('closes no log with a tail, a live event or a call in progress', async () => {
  const { stores, isOpen } = countedStores()
  await using logs = open({ stores, maxOpen: 1, idleMs: 100 })
  const tail = logs.log('tail').tail()
  const next = tail.next()
  const live = await logs.log('live').recordLive('note')
  for (const key of ['x', 'y', 'z']) await logs.log(key).record('note')
  await eventually(() => expect(['x', 'y', 'z'].map(isOpen)).toEqual([false, false, false]))
  expect(isOpen('tail')).toBe(true)
  expect(isOpen('live')).toBe(true)
  await logs.log('tail').record('note', { n: 7 })
  expect((await next).value).toMatchObject({ attributes: { n: 7 } })
  await tail.return()
  await live.close()
  await eventually(() => expect(logs.openCount).toBe(0))
  expect((await logs.log('live').list()).events).toMatchObject([{ type: 'note' }])
})

it('makes no timer for each log', async () => {
  const made = new Set<string>()
  await using logs = open({ idleMs: 100, onLog: (_log, key) => void made.add(key) })
  const timers = vi.spyOn(globalThis, 'setTimeout')
  const intervals = vi.spyOn(globalThis, 'setInterval')
  await Promise.all(Array.from({ length: 200 }, (_, i) => logs.log(`${i}`).list()))
  expect(intervals).not.toHaveBeenCalled()
  const perLog = timers.mock.calls.length / 200
  expect(perLog).toBeLessThan(0.5)
  vi.restoreAllMocks()
  expect(made.size).toBe(200)
  await eventually(() => expect(logs.openCount).toBe(0))
})

it('merges by time, then by log, and pages back by a cursor', async () => {
  await using logs = open()
  await logs.log('a').importEvents([at(1, 1), at(3, 2), at(5, 3)])
  await logs.log('b').importEvents([at(1, 4), at(3, 5), at(4, 6)])
  await logs.log('c').importEvents([at(3, 7)])
  const all = ['a 1', 'b 4', 'a 2', 'b 5', 'c 7', 'b 6', 'a 3']
  expect(texts((await logs.list({ limit: 100 })).events)).toEqual(all)
  for (const limit of [1, 2, 3, 4]) {
    const found: string[] = []
    for (let cursor: string | undefined; ;) {
      const page = await logs.list({ limit }, { cursor })
      found.unshift(...texts(page.events))
      expect(page.truncated).toBe(page.cursor !== undefined)
      if (page.cursor === undefined) break
      expect(page.cursor).toMatch(/^[\w-]+$/)
      cursor = page.cursor
    }
    expect(found).toEqual(all)
  }
  const descending = await logs.list({ filter: { s: 'created_at desc' }, limit: 4 })
  expect(texts(descending.events)).toEqual(['a 3', 'b 6', 'a 2', 'b 5'])
  expect(descending).toMatchObject({ truncated: true, cursor: undefined })
  const byNumber = await logs.list({ filter: { s: 'n desc' }, limit: 2 }, { logs: ['b', 'a'] })
  expect(texts(byNumber.events)).toEqual(['b 6', 'b 5'])
  const pages: string[][] = []
  for await (const page of logs.pages()) pages.push(texts(page))
  expect(pages).toEqual([all])
})

it('misses no event of a log with a slow clock when it continues at newer events', async () => {
  const clocks = new Map([
    ['ahead', manualClock('2026-01-01T00:00:10Z')],
    ['behind', manualClock('2026-01-01T00:00:00Z')],
  ])
  const stores = new Map([...clocks].map(([key, clock]) => [key, memoryLogs({ clock })]))
  await using logs = open({
    stores: {
      open: (key) => stores.get(key)!.open(key),
      keys: async () => ['ahead', 'behind'],
      has: async (key) => clocks.has(key),
      close: async () => {},
    },
  })
  const oldestFirst = { filter: { s: 'created_at asc' } }
  await logs.log('ahead').record('note', { n: 1 })
  const first = await logs.list(oldestFirst)
  expect(texts(first.events)).toEqual(['ahead 1'])
  await logs.log('behind').record('note', { n: 2 })
  const second = await logs.list(oldestFirst, { cursor: first.cursor })
  expect(texts(second.events)).toEqual(['behind 2'])
  await logs.log('ahead').record('note', { n: 3 })
  const third = await logs.list(oldestFirst, { cursor: second.cursor })
  expect(texts(third.events)).toEqual(['ahead 3'])
})

it.each(['x', '', 'AQ', 'AgAA', 'A'.repeat(40), '%'])('refuses the cursor %j', async (cursor) => {
  await using logs = open()
  await logs.log('a').record('note')
  const invalid = expect.objectContaining({ code: 'INVALID_VALUE', parameter: 'cursor' })
  const oldestFirst = { filter: { s: 'created_at asc' } }
  await expect(logs.list({}, { cursor })).rejects.toEqual(invalid)
  if (cursor !== 'AQ') {
    await expect(logs.list(oldestFirst, { cursor })).rejects.toEqual(invalid)
    await expect(logs.tail({}, { cursor }).next()).rejects.toEqual(invalid)
  }
  await expect(logs.list({ filter: { s: 'n' } }, { cursor })).rejects.toEqual(invalid)
})

it('shows the visible events of each log, and names the log that fails', async () => {
  await using logs = open()
  for (const key of ['a', 'b'])
    for (const username of ['ann', 'bob'])
      await logs.log(key).record('note', { n: username }, { username })
  const visible = (key: string) => (key === 'a' ? ('all' as const) : { username_eq: 'ann' })
  expect(texts((await logs.list({}, { visible })).events)).toEqual(['a ann', 'a bob', 'b ann'])
  expect((await logs.count({}, { visible })).total).toBe(3)
  const [page] = await take(logs.pages({}, { visible }), 1)
  expect(texts(page!)).toEqual(['a ann', 'a bob', 'b ann'])
  const { store } = logs.log('b')
  const failure = new AuditLogError('STORE_FAILED', 'no disk')
  vi.spyOn(store, 'list').mockRejectedValue(failure)
  await expect(logs.list()).rejects.toMatchObject({
    code: 'STORE_FAILED',
    message: 'log "b": no disk',
    cause: failure,
  })
})

it('adds up counts in the same buckets', async () => {
  const clock = manualClock('2026-01-01T00:01:00Z')
  const logs = open({ stores: memoryLogs({ clock }) })
  await logs.log('a').importEvents([at(1, 1), at(3, 2)])
  await logs.log('b').importEvents([at(30, 4), at(31, 1)])
  await logs.log('empty').list()
  const counts = await logs.count({}, { buckets: { count: 10 }, facets: ['n', 'level'] })
  expect(counts).toMatchObject({
    total: 4,
    levels: { custom: 4 },
    facets: {
      n: {
        values: [
          { value: 1, count: 2 },
          { value: 2, count: 1 },
          { value: 4, count: 1 },
        ],
        exact: true,
      },
      level: { values: [{ value: 'custom', count: 4 }] },
    },
    exact: { total: true, levels: true, buckets: true },
  })
  const single = open({ stores: memoryLogs({ clock }) })
  await single
    .log('all')
    .importEvents([at(1, 1), at(3, 2), at(30, 4), { ...at(31, 9), attributes: { n: 1 } }])
  const expected = await single.log('all').count({}, { buckets: { count: 10 } })
  expect(counts.buckets).toEqual(expected.buckets)
  await Promise.all([logs.close(), single.close()])
})

/* These tests wait for rounds and for idle logs, so they run at the same time. */

it.concurrent('follows logs, including logs that are created later, and continues with a cursor', async () => {
  await using logs = open()
  await logs.log('a').record('note', { n: 1 })
  await logs.log('b').record('note', { n: 2 })
  const tail = logs.tail('filter[type_eq]=note')
  const first = tail.next()
  await eventually(() => expect(tail.cursor).toBeDefined())
  await logs.log('b').record('other')
  await logs.log('a').record('note', { n: 3 })
  expect(texts([(await first).value!])).toEqual(['a 3'])
  const { cursor } = tail
  await logs.log('late').record('note', { n: 4 })
  expect(texts([(await tail.next()).value!])).toEqual(['late 4'])
  await tail.return()
  await logs.log('b').record('note', { n: 5 })
  const resumed = await take(logs.tail('filter[type_eq]=note', { cursor }), 2)
  expect(texts(resumed)).toEqual(['late 4', 'b 5'])
  const fromStart = logs.tail('filter[type_eq]=note', { cursor: 'AQ', logs: ['a', 'b'] })
  expect(texts(await take(fromStart, 4))).toEqual(['a 1', 'b 2', 'a 3', 'b 5'])
})

it.concurrent('follows more logs than can be open', async () => {
  await using logs = open({ maxOpen: 5, idleMs: 100 })
  const keys = Array.from({ length: 120 }, (_, i) => `log ${String(i).padStart(3, '0')}`)
  for (const key of keys) await logs.log(key).record('note', { n: 0 })
  const controller = new AbortController()
  const tail = logs.tail({}, { signal: controller.signal })
  const first = tail.next()
  await eventually(() => expect(tail.cursor).toBeDefined())
  for (const key of [keys[3]!, keys[110]!]) await logs.log(key).record('note', { n: 1 })
  const found = [(await first).value!, (await tail.next()).value!]
  expect(texts(found)).toEqual([`${keys[3]} 1`, `${keys[110]} 1`])
  const waiting = tail.next()
  controller.abort()
  await expect(waiting).rejects.toMatchObject({ code: 'ABORTED' })
})

it.concurrent('ends a tail while it waits', async () => {
  await using logs = open()
  await logs.log('a').record('note')
  const tail = logs.tail()
  const next = tail.next()
  await eventually(() => expect(tail.cursor).toBeDefined())
  await tail.return()
  expect(await next).toEqual({ done: true, value: undefined })
})

it.concurrent('runs due cleaning rules of all logs in turns, also of logs that are not open', async () => {
  const { stores } = countedStores()
  const before = open({ stores })
  for (const key of ['a', 'b', 'c']) await before.log(key).importEvents([at(1, 1)])
  await before.log('a').record('note', { n: 2 })
  await using logs = open({
    stores,
    idleMs: 100,
    roundMs: 1000,
    cleaning: { rules: [{ target: 'events', maxAge: { days: 1 }, every: { seconds: 1 } }] },
  })
  await eventually(async () => expect((await before.count('filter[n_eq]=1')).total).toBe(0))
  expect((await before.count('filter[n_eq]=2')).total).toBe(1)
  await eventually(() => expect(logs.openCount).toBeLessThan(2))
})

it.concurrent.each([
  ['was ahead before the logs were opened', 400, 0],
  ['jumps ahead while they are open', 0, 29],
])('removes nothing by age while the clock %s', async (_, atStart, later) => {
  const clock = manualClock('2026-06-01')
  const { stores } = countedStores(memoryLogs({ clock }))
  const before = open({ stores })
  for (const key of ['a', 'b']) await before.log(key).record('note', { n: 1 })
  clock.jump(atStart * DAY)
  await using logs = open({
    stores,
    idleMs: 100,
    roundMs: 1000,
    cleaning: { rules: [{ target: 'events', maxAge: { days: 7 }, every: { seconds: 1 } }] },
  })
  await logs.log('a').record('note', { n: 2 })
  const isJudged = async (key: string) =>
    (await before.log(key).store.readStates('cleaning-clock:', { limit: 1 })).length > 0
  if (later > 0) await eventually(async () => expect(await isJudged('b')).toBe(true))
  clock.jump(later * DAY)
  clock.advance(MINUTE)
  for (const key of ['a', 'b'])
    await eventually(async () =>
      expect(await before.log(key).health()).toMatchObject({
        cleaning: { waiting: [{ rule: 'events' }] },
      }),
    )
  expect((await before.count('filter[type_eq]=note')).total).toBe(3)
})

it.concurrent('delivers to channels while a log is open, and in turns', async () => {
  const delivered: string[] = []
  const channel: Channel = {
    async deliver(events) {
      for (const { attributes } of events) delivered.push(`${attributes['n'] as number}`)
    },
  }
  const subscriptions = {
    channels: { list: channel },
    subscriptions: { notes: { filter: 'filter[type_eq]=note', channel: 'list' } },
  }
  const stores = memoryLogs()
  await using logs = open({ stores, subscriptions, idleMs: 1000, roundMs: 1000 })
  await logs.log('a').list()
  await eventually(async () => {
    const [status] = await logs.log('a').subscriptions.status()
    expect(status?.state).toBe('live')
  })
  await logs.log('a').record('note', { n: 1 })
  await eventually(() => expect(delivered).toEqual(['1']))
  // Recorded by another process, while the log is not open in this one.
  await eventually(() => expect(logs.openCount).toBe(0))
  const other = open({ stores })
  await other.log('a').record('note', { n: 2 })
  await eventually(() => expect(delivered).toEqual(['1', '2']))
})
