import { setTimeout as delay } from 'node:timers/promises'
import {
  AuditLog,
  AuditLogError,
  type EventDraft,
  type EventStore,
  type RecorderOptions,
} from 'daybook'
import { memoryStore } from 'daybook/memory'
import { describe, expect, it } from 'vitest'

interface FakeStore extends EventStore {
  /** The labels of the drafts of each append, in the order of the calls. */
  readonly batches: string[][]
}

type Append = EventStore['append']

/** A memory store whose appends are noted, and go through `before` first. */
function fakeStore(before: Append = () => Promise.resolve([]), maxBatch = 500): FakeStore {
  const memory = memoryStore()
  const batches: string[][] = []
  return {
    ...memory,
    name: 'fake',
    maxBatch,
    batches,
    async append(drafts, options) {
      batches.push(drafts.map((draft) => draft.type))
      await before(drafts, options)
      return memory.append(drafts)
    },
  }
}

const log = (store: EventStore, waiting: Partial<RecorderOptions> = {}): AuditLog =>
  new AuditLog({ store, types: {}, waiting })

/** What waits until it is let go, or until its signal aborts as a store's append must. */
function gate(): { append: Append; open: () => void } {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => (open = resolve))
  const append: Append = (_, { signal } = {}) =>
    new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(new AuditLogError('ABORTED', 'gave up')))
      void opened.then(() => resolve([]))
    })
  return { append, open }
}

const codeOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'stored',
    (error: unknown) => (error instanceof AuditLogError ? error.code : error),
  )

const stored = async (audit: AuditLog): Promise<string[]> =>
  (await audit.list({ limit: 1000 })).events.map((event) => event.type)

describe('recording', () => {
  it('puts the calls of one turn into one append, in their order', async () => {
    const store = fakeStore()
    const audit = log(store)
    await Promise.all(['a', 'b', 'c'].map((type) => audit.recordCustom(type)))
    expect(store.batches).toEqual([['a', 'b', 'c']])
  })

  it('gathers what is recorded during an append for the next', async () => {
    const { append, open } = gate()
    const store = fakeStore(append)
    const audit = log(store)
    const first = audit.recordCustom('a')
    await delay(5)
    const rest = ['b', 'c', 'd'].map((type) => audit.recordCustom(type))
    await delay(5)
    expect(store.batches).toEqual([['a']])
    open()
    await Promise.all([first, ...rest])
    expect(store.batches).toEqual([['a'], ['b', 'c', 'd']])
  })

  it('gives a store no larger batch than it takes', async () => {
    const store = fakeStore(undefined, 2)
    const audit = log(store)
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((type) => audit.recordCustom(type)))
    expect(store.batches).toEqual([['a', 'b'], ['c', 'd'], ['e']])
  })

  it('copies the data before the call returns', async () => {
    const audit = log(fakeStore())
    const data = { name: 'before', nested: { list: [1] } }
    const call = audit.recordCustom('a', data)
    data.name = 'after'
    data.nested.list.push(2)
    expect((await call)!.attributes).toEqual({ name: 'before', nested: { list: [1] } })
  })

  it('rejects at the deadline what a store will not take, and never stores it', async () => {
    const { append, open } = gate()
    const audit = log(fakeStore(append), { deadlineMs: 30 })
    expect(await codeOf(audit.recordCustom('late'))).toBe('DEADLINE_EXCEEDED')
    open()
    await audit.recordCustom('next')
    expect(await stored(audit)).toEqual(['next'])
  })

  it('tries again, in order, what was not due when an append was given up', async () => {
    let appends = 0
    const { append } = gate()
    const store = fakeStore((drafts, options) =>
      ++appends === 1 ? append(drafts, options) : Promise.resolve([]),
    )
    const audit = log(store, { deadlineMs: 80 })
    const early = codeOf(audit.recordCustom('early'))
    await delay(30)
    const batch = ['b', 'c'].map((type) => audit.recordCustom(type))
    expect(await early).toBe('DEADLINE_EXCEEDED')
    await Promise.all(batch)
    expect(await stored(audit)).toEqual(['b', 'c'])
  })

  it('rejects at their deadline the events behind an append that hangs', async () => {
    let release = (): void => undefined
    const hanging = new Promise<void>((resolve) => (release = resolve))
    const store = fakeStore(() => hanging.then(() => []))
    const audit = log(store, { deadlineMs: 30 })
    const first = codeOf(audit.recordCustom('hangs'))
    await delay(5)
    expect(await codeOf(audit.recordCustom('behind'))).toBe('DEADLINE_EXCEEDED')
    release()
    // The store had it: only the store's answer tells whether it is kept.
    expect(await first).toBe('stored')
    expect(await stored(audit)).toEqual(['hangs'])
  })

  it('refuses more events than may wait', async () => {
    const { append, open } = gate()
    const audit = log(fakeStore(append), { maxWaiting: 2 })
    const calls = ['a', 'b', 'c'].map((type) => codeOf(audit.recordCustom(type)))
    expect(await calls[2]).toBe('QUEUE_FULL')
    open()
    expect(await Promise.all(calls)).toEqual(['stored', 'stored', 'QUEUE_FULL'])
    expect(await codeOf(audit.recordCustom('d'))).toBe('stored')
  })

  it('refuses more bytes than may wait', async () => {
    const { append, open } = gate()
    const audit = log(fakeStore(append), { maxWaitingBytes: 1000 })
    const text = 'x'.repeat(600)
    const calls = ['a', 'b', 'c'].map((type) => codeOf(audit.recordCustom(type, { text })))
    open()
    expect(await Promise.all(calls)).toEqual(['stored', 'stored', 'QUEUE_FULL'])
  })

  it('does not store what is aborted while it waits', async () => {
    const { append, open } = gate()
    const store = fakeStore(append)
    const audit = log(store)
    const first = audit.recordCustom('a')
    await delay(5)
    const controller = new AbortController()
    const aborted = codeOf(audit.recordCustom('b', {}, { signal: controller.signal }))
    const last = audit.recordCustom('c')
    controller.abort()
    expect(await aborted).toBe('ABORTED')
    open()
    await Promise.all([first, last])
    expect(await stored(audit)).toEqual(['a', 'c'])
  })

  it('lets the store decide about what is aborted while the store has it', async () => {
    const { append, open } = gate()
    const audit = log(fakeStore(append))
    const controller = new AbortController()
    const call = codeOf(audit.recordCustom('a', {}, { signal: controller.signal }))
    await delay(5)
    controller.abort()
    open()
    expect(await call).toBe('stored')
    expect(await stored(audit)).toEqual(['a'])
  })

  it('rejects a batch that fails with the cause, and goes on with the next', async () => {
    const broken = new Error('disk full')
    let appends = 0
    const audit = log(
      fakeStore(() => (++appends === 1 ? Promise.reject(broken) : Promise.resolve([]))),
    )
    const [first, second] = await Promise.allSettled([
      audit.recordCustom('a'),
      audit.recordCustom('b'),
    ])
    for (const result of [first, second])
      expect(result).toMatchObject({
        status: 'rejected',
        reason: { code: 'STORE_FAILED', cause: broken },
      })
    await audit.recordCustom('c')
    expect(await stored(audit)).toEqual(['c'])
  })

  it('flushes and closes only when every call is settled', async () => {
    const { append, open } = gate()
    const store = fakeStore(append)
    const audit = log(store)
    const order: string[] = []
    void audit.recordCustom('a').then(() => order.push('recorded'))
    const flushed = audit.flush().then(() => order.push('flushed'))
    const closed = audit.close().then(() => order.push('closed'))
    expect(await codeOf(audit.recordCustom('b'))).toBe('CLOSED')
    open()
    await Promise.all([flushed, closed, audit.close()])
    expect(order[0]).toBe('recorded')
    expect(order.toSorted()).toEqual(['closed', 'flushed', 'recorded'])
  })

  it('keeps its counts balanced at every moment', async () => {
    const { append, open } = gate()
    let fail = false
    const store = fakeStore((drafts: readonly EventDraft[], options) =>
      fail ? Promise.reject(new Error('no')) : append(drafts, options),
    )
    const audit = new AuditLog({
      store,
      types: { 'api:off:x': { enabled: () => false }, 'api:on:x': {} },
      waiting: { maxWaiting: 3 },
    })
    const check = (): void => {
      const { calls, stored, heldBack, rejected, dropped, journalled, waiting } = audit.stats()
      expect(stored + heldBack + rejected + dropped + journalled + waiting).toBe(calls)
    }
    let heard = 0
    audit.on('recorded', () => {
      heard++
      check()
    })
    audit.on('rejected', () => {
      heard++
      check()
    })
    const calls = [
      audit.record('api:on:x'),
      audit.record('api:off:x'),
      audit.recordCustom('a'),
      audit.recordCustom('b'),
      audit.recordCustom('c'),
      audit.recordCustom(''),
    ].map(codeOf)
    check()
    expect(audit.stats()).toMatchObject({ calls: 6, waiting: 3, heldBack: 1, rejected: 2 })
    await delay(2)
    check()
    open()
    await Promise.all(calls)
    fail = true
    expect(await codeOf(audit.recordCustom('d'))).toBe('STORE_FAILED')
    check()
    expect(audit.stats()).toEqual({
      calls: 7,
      stored: 3,
      heldBack: 1,
      rejected: 3,
      dropped: 0,
      journalled: 0,
      waiting: 0,
    })
    expect(heard).toBe(6)
  })

  it.each([{ deadlineMs: 0 }, { maxWaiting: 1.5 }, { maxWaitingBytes: -1 }])(
    'refuses the option %j',
    (waiting) => {
      expect(() => log(fakeStore(), waiting)).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTION' }),
      )
    },
  )
})
