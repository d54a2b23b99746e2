import { setTimeout as delay } from 'node:timers/promises'
import {
  type AuditEvent,
  AuditLog,
  AuditLogError,
  type AuditLogErrorCode,
  type EventStore,
  type TailOptions,
} from 'daybook'
import { memoryStore } from 'daybook/memory'
import { manualClock } from 'daybook/testing'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { numberedId, plainEvent } from '../../support/plain-events.js'
import { driveTime } from '../drive-time.js'
import { gate, stateOf, turns } from '../fake-store.js'

interface Rig {
  readonly audit: AuditLog
  readonly store: EventStore
  /** Number of list queries of the store. */
  readonly lists: () => number
  /** Number of watchers of the store. */
  readonly watching: () => number
}

/** A log on a memory store with some replaced methods. Counts queries and watchers. */
function rig(replace: (store: EventStore) => Partial<EventStore> = () => ({})): Rig {
  const memory = memoryStore()
  let watching = 0
  const counted: EventStore = {
    ...memory,
    watch(hint) {
      const stop = memory.watch(hint)
      watching++
      return () => {
        watching--
        stop()
      }
    },
  }
  const store = { ...counted, ...replace(memory) }
  const list = vi.spyOn(store, 'list')
  const audit: AuditLog = new AuditLog({ store, types: {} })
  onTestFinished(() => audit.close())
  return { audit, store, lists: () => list.mock.calls.length, watching: () => watching }
}

async function record(audit: AuditLog, ...types: readonly string[]): Promise<AuditEvent[]> {
  const events = await Promise.all(types.map((type) => audit.recordCustom(type)))
  return events.map((event) => event!)
}

/** The types of the next `count` events. */
async function next(tail: AsyncIterator<AuditEvent>, count: number): Promise<string> {
  const types: string[] = []
  while (types.length < count) {
    const { value, done } = await tail.next()
    if (done) return `${types.join(' ')} and the end`
    types.push(value.type)
  }
  return types.join(' ')
}

describe('a tail', () => {
  it('delivers events that become visible after the call, even before the first next', async () => {
    const { audit } = rig()
    await record(audit, 'before')
    await using tail = audit.tail()
    await record(audit, 'a', 'b')
    expect(await next(tail, 2)).toBe('a b')
    const waiting = next(tail, 1)
    expect(await stateOf(waiting)).toBe('waiting')
    await record(audit, 'c')
    expect(await waiting).toBe('c')
  })

  it('delivers complete events', async () => {
    const { audit } = rig()
    await using tail = audit.tail()
    const [event] = await record(audit, 'a')
    expect(await tail.next()).toEqual({ done: false, value: event })
  })

  it('starts at the time of the call, also if the store answers late', async () => {
    const held = gate()
    let lists = 0
    const { audit } = rig((store) => ({
      async list(query, options) {
        if (lists++ === 1) await held.answer(undefined, [])
        return store.list(query, options)
      },
    }))
    await record(audit, 'before')
    await audit.list()
    await using tail = audit.tail()
    await record(audit, 'a')
    await record(audit, 'b')
    held.open()
    expect(await next(tail, 2)).toBe('a b')
  })

  it('of an empty log starts with its first event', async () => {
    const { audit } = rig()
    await using tail = audit.tail()
    const first = next(tail, 2)
    await turns()
    await record(audit, 'a', 'b')
    expect(await first).toBe('a b')
  })

  it('resumes after a time, exclusive, in any readable form', async () => {
    const { audit } = rig()
    const [a, b] = await record(audit, 'a', 'b', 'c', 'd')
    const resume = async (after: string, count: number): Promise<string> => {
      await using tail = audit.tail('', { after })
      return await next(tail, count)
    }
    expect(await resume('1970-01-01', 4)).toBe('a b c d')
    expect(await resume(a!.created_at, 3)).toBe('b c d')
    expect(await resume(b!.created_at.replace('Z', '+00:00'), 2)).toBe('c d')
    const future = audit.tail('', { after: '2200-01-01' })
    const later = next(future, 1)
    await record(audit, 'e')
    await delay(30)
    expect(await stateOf(later)).toBe('waiting')
    await future.return()
    expect(await later).toBe(' and the end')
  })

  it('delivers only matching events, and does not read the others twice', async () => {
    const bounds: string[] = []
    const { pass } = driveTime()
    const { audit } = rig((store) => ({
      list(query, options) {
        const text = JSON.stringify(query.where)
        if (query.where) bounds.push(/"gteq","values":\["([^"]+)/.exec(text)?.[1] ?? 'none')
        return store.list(query, options)
      },
    }))
    const [start] = await record(audit, 'start')
    await using tail = audit.tail('filter[type_start]=error:', { after: start!.created_at })
    const first = next(tail, 1)
    const others: AuditEvent[] = []
    for (let i = 0; i < 3; i++) {
      await pass(30)
      others.push(...(await record(audit, 'info:a', 'info:b')))
    }
    await pass(30)
    await record(audit, 'error:a')
    expect(await first).toBe('error:a')
    const newest = others.map((event) => event.created_at)
    expect(bounds).toEqual([start!.created_at, newest[1], newest[3], newest[5]])
  })

  it('delivers thousands of events in pages', async () => {
    const sizes: number[] = []
    const { audit } = rig((store) => ({
      async list(query, options) {
        const page = await store.list(query, options)
        if (query.where) sizes.push(page.events.length)
        return page
      },
    }))
    const types = Array.from({ length: 2500 }, (_, n) => `t${n}`)
    await record(audit, ...types)
    await using tail = audit.tail('', { after: '2000-01-01' })
    expect(await next(tail, 1)).toBe('t0')
    // A slow reader keeps one page.
    await turns()
    expect(sizes).toEqual([1000])
    expect(await next(tail, 2499)).toBe(types.slice(1).join(' '))
    expect(sizes).toEqual([1000, 1000, 500])
  })

  it('delivers all events to each of several tails, and calls of next keep their order', async () => {
    const { audit } = rig()
    const tails = [audit.tail(), audit.tail(), audit.tail('filter[type_eq]=b')]
    const nexts = [tails[0]!.next(), tails[0]!.next(), tails[1]!.next(), tails[2]!.next()]
    await record(audit, 'a', 'b')
    const types = (await Promise.all(nexts)).map(({ value }) => (value as AuditEvent).type)
    expect(types).toEqual(['a', 'b', 'a', 'b'])
    await Promise.all(tails.map((tail) => tail.return()))
  })

  it('misses nothing if the store answers from a replica that lags', async () => {
    const recorded: AuditEvent[] = []
    const { audit } = rig((store) => ({
      // Every second answer lacks the newest three events.
      async list(query, options) {
        const behind = query.where && Math.random() < 0.5 ? recorded.at(-4)?.created_at : undefined
        if (query.where && behind === undefined && Math.random() < 0.3)
          return { events: [], truncated: false }
        const page = await store.list(query, options)
        if (behind === undefined) return page
        return { ...page, events: page.events.filter((event) => event.created_at <= behind) }
      },
    }))
    await using tail = audit.tail('filter[type_not_eq]=other')
    const types = Array.from({ length: 60 }, (_, n) => `t${n}`)
    const seen = next(tail, 60)
    for (const type of types) {
      recorded.push(...(await record(audit, type, 'other')))
      await delay(Math.random() * 15)
    }
    for (let i = 0; i < 30; i++) {
      recorded.push(...(await record(audit, 'other')))
      await delay(12)
    }
    expect(await seen).toBe(types.join(' '))
  })

  it('ignores a limit', async () => {
    const { audit } = rig()
    await using tail = audit.tail('limit=1')
    await record(audit, 'a', 'b', 'c')
    expect(await next(tail, 3)).toBe('a b c')
  })

  it.each<[string, string, string, Pick<TailOptions, 'after'>]>([
    ['sorts', 'INVALID_VALUE', 'filter[sorts]=created_at', {}],
    ['an unknown predicate', 'UNKNOWN_PREDICATE', 'filter[type_equals]=x', {}],
    ['a limit of none', 'INVALID_VALUE', 'limit=0', {}],
    ['an unreadable time', 'INVALID_VALUE', '', { after: 'yesterday' }],
    ['an empty time', 'INVALID_VALUE', '', { after: '' }],
    ['a time that is not a text', 'INVALID_VALUE', '', { after: new Date(0) as unknown as string }],
  ])('rejects %s at the first next, not before', async (_, code, query, options) => {
    const { audit, watching } = rig()
    const tail = audit.tail(query, options)
    await turns()
    await expect(tail.next()).rejects.toMatchObject({ name: 'AuditLogError', code })
    expect(await tail.next()).toEqual({ done: true, value: undefined })
    expect(watching()).toBe(0)
  })
})

describe('tails share', () => {
  it('the polls of the store, with any filters', async () => {
    const { pass } = driveTime()
    const { audit, lists, watching } = rig()
    const tails = Array.from({ length: 100 }, (_, i) => audit.tail(`filter[type_eq]=t${i % 10}`))
    const firsts = tails.map((tail) => next(tail, 1))
    await pass(100)
    expect(watching()).toBe(1)
    const before = lists()
    await record(audit, ...Array.from({ length: 10 }, (_, i) => `t${i}`))
    await pass(100)
    expect(await Promise.all(firsts)).toEqual(tails.map((_, i) => `t${i % 10}`))
    // The queries for the newest event, for the new events, and of the poll that finds no more.
    expect(lists() - before).toBeLessThanOrEqual(4)
    await Promise.all(tails.map((tail) => tail.return()))
    expect(watching()).toBe(0)
  })

  it('the store when they are far behind: one reads at a time', async () => {
    let [reading, most] = [0, 0]
    const { audit } = rig((store) => ({
      async list(query, options) {
        if (!query.where) return store.list(query, options)
        most = Math.max(most, ++reading)
        await turns()
        const page = await store.list(query, options)
        reading--
        return page
      },
    }))
    const types = Array.from({ length: 500 }, (_, n) => `t${n}`)
    await record(audit, ...types)
    const tails = Array.from({ length: 20 }, () => audit.tail('', { after: '2000-01-01' }))
    const seen = await Promise.all(tails.map((tail) => next(tail, 500)))
    expect(new Set(seen)).toEqual(new Set([types.join(' ')]))
    expect(most).toBe(1)
    await Promise.all(tails.map((tail) => tail.return()))
  })

  it('nothing with tails of other filters that fail', async () => {
    const { audit } = rig()
    const wrong = audit.tail('filter[type_equals]=x')
    await using right = audit.tail('filter[type_eq]=a')
    const first = next(right, 1)
    await expect(wrong.next()).rejects.toMatchObject({ code: 'UNKNOWN_PREDICATE' })
    await record(audit, 'a')
    expect(await first).toBe('a')
  })

  it('no poll without a waiting reader', async () => {
    const { pass } = driveTime()
    const { audit, lists } = rig()
    await using tail = audit.tail()
    const first = next(tail, 1)
    await pass(50)
    await record(audit, 'a')
    expect(await first).toBe('a')
    const before = lists()
    for (const type of ['b', 'c', 'd']) {
      await record(audit, type)
      await pass(2000)
    }
    // A poll that had already begun may be added.
    expect(lists() - before).toBeLessThanOrEqual(2)
    expect(await next(tail, 3)).toBe('b c d')
  })
})

describe('a tail is woken', () => {
  it('by a hint, at once', async () => {
    const { pass } = driveTime()
    const { audit } = rig()
    await using tail = audit.tail()
    const first = next(tail, 1)
    await pass(50)
    await record(audit, 'a')
    expect(await first).toBe('a')
  })

  it('within about a second if hints are lost', async () => {
    const { pass } = driveTime()
    const { store } = rig()
    const other: AuditLog = new AuditLog({ store, types: {} })
    onTestFinished(() => other.close())
    const { audit } = rig(() => ({ ...store, watch: () => () => {} }))
    await using tail = audit.tail()
    const first = next(tail, 1)
    await pass(20)
    await record(other, 'a')
    await pass(900)
    expect(await stateOf(first)).toBe('waiting')
    await pass(150)
    expect(await stateOf(first)).toBe('stored')
    expect(await first).toBe('a')
  })

  it('by many hints at most a hundred times per second', async () => {
    const { pass } = driveTime()
    let hint = (): void => {}
    const { audit, lists } = rig(() => ({
      watch(given) {
        hint = given
        return () => {}
      },
    }))
    await using tail = audit.tail()
    const first = next(tail, 1)
    for (let i = 0; i < 300; i++) {
      hint()
      await pass(1)
    }
    expect(lists()).toBeGreaterThan(5)
    expect(lists()).toBeLessThan(300 / 10 + 5)
    await record(audit, 'a')
    hint()
    await pass(10)
    expect(await first).toBe('a')
  })
})

describe('a store that fails', () => {
  const failing =
    (code: string, times: number) =>
    (store: EventStore): Partial<EventStore> => {
      let left = times
      return {
        async list(query, options) {
          if (query.where && left-- > 0)
            throw new AuditLogError(code as AuditLogErrorCode, 'the fake store failed')
          return store.list(query, options)
        },
      }
    }

  const down = (): Partial<EventStore> => ({
    async list() {
      throw new AuditLogError('STORE_FAILED', 'the fake store failed')
    },
  })

  it.each(['STORE_FAILED', 'QUERY_TIMEOUT'])(
    'with %s is polled again, and no event is lost',
    async (code) => {
      const { pass } = driveTime()
      const { audit } = rig(failing(code, 1))
      await using tail = audit.tail()
      const seen = next(tail, 3)
      await record(audit, 'a', 'b')
      await pass(100)
      await record(audit, 'c')
      await pass(1000)
      expect(await seen).toBe('a b c')
    },
  )

  it('is read without the filter if the filtered query times out', async () => {
    const { audit } = rig((store) => ({
      async list(query, options) {
        if (JSON.stringify(query.where ?? {}).includes('type'))
          throw new AuditLogError('QUERY_TIMEOUT', 'the fake store took too long')
        return store.list(query, options)
      },
    }))
    await record(
      audit,
      ...Array.from({ length: 2500 }, (_, i) => (i % 1200 === 7 ? 'rare' : 'other')),
    )
    await using tail = audit.tail('filter[type_eq]=rare', { after: '2000-01-01' })
    expect(await next(tail, 3)).toBe('rare rare rare')
  })

  it('is not polled more often by hints', async () => {
    const { pass } = driveTime()
    const { audit, lists } = rig(down)
    await using tail = audit.tail('', { after: '2000-01-01' })
    void tail.next()
    for (let i = 0; i < 20; i++) {
      await record(audit, 'a')
      await pass(5)
    }
    expect(lists()).toBe(1)
  })

  it('when the tail starts ends the tail', async () => {
    const { audit, watching } = rig(down)
    const tail = audit.tail()
    await turns()
    await expect(tail.next()).rejects.toMatchObject({ code: 'STORE_FAILED' })
    expect(watching()).toBe(0)
  })

  it('permanently ends the tail', async () => {
    const { audit, watching } = rig(failing('INVALID_VALUE', Infinity))
    const tail = audit.tail()
    const first = tail.next()
    await record(audit, 'a')
    await expect(first).rejects.toMatchObject({ code: 'INVALID_VALUE' })
    expect(watching()).toBe(0)
  })
})

describe('a tail ends', () => {
  it('when the loop is left', async () => {
    const { audit, watching } = rig()
    await record(audit, 'a', 'b')
    for await (const event of audit.tail('', { after: '2000-01-01' })) {
      expect(event.type).toBe('a')
      expect(watching()).toBe(1)
      break
    }
    expect(watching()).toBe(0)
  })

  it('by return, even while it waits', async () => {
    const { pass } = driveTime()
    const { audit, watching } = rig()
    const tail = audit.tail()
    const waiting = tail.next()
    await pass(30)
    expect(watching()).toBe(1)
    await tail.return()
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(watching()).toBe(0)
    await record(audit, 'a')
    expect(await tail.next()).toEqual({ done: true, value: undefined })
    expect(await tail.return()).toEqual({ done: true, value: undefined })
  })

  it('by return before it starts, and while the store does not answer', async () => {
    const { audit, watching } = rig(() => ({ list: () => new Promise(() => {}) }))
    const tail = audit.tail()
    await tail.return()
    expect(await tail.next()).toEqual({ done: true, value: undefined })
    const other = audit.tail()
    const waiting = other.next()
    await turns()
    await other.return()
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(watching()).toBe(0)
  })

  it('by await using', async () => {
    const { audit, watching } = rig()
    {
      await using tail = audit.tail()
      void tail.next()
      await turns()
      expect(watching()).toBe(1)
    }
    expect(watching()).toBe(0)
  })

  it('with ABORTED by its signal, whether it waits or not', async () => {
    const { pass } = driveTime()
    const { audit, watching } = rig()
    const controller = new AbortController()
    const reason = new Error('enough')
    const tail = audit.tail('', { signal: controller.signal })
    const waiting = tail.next()
    await pass(30)
    controller.abort(reason)
    await expect(waiting).rejects.toMatchObject({
      name: 'AuditLogError',
      code: 'ABORTED',
      cause: reason,
    })
    expect(watching()).toBe(0)
    expect(await tail.next()).toEqual({ done: true, value: undefined })

    const second = new AbortController()
    await record(audit, 'a', 'b')
    const seen: string[] = []
    const loop = async (): Promise<void> => {
      const options = { signal: second.signal, after: '2000-01-01' }
      for await (const event of audit.tail('', options)) {
        seen.push(event.type)
        second.abort(reason)
      }
    }
    await expect(loop()).rejects.toMatchObject({ code: 'ABORTED', cause: reason })
    expect(seen).toEqual(['a'])
    expect(watching()).toBe(0)
  })

  it('with ABORTED at once if its signal is aborted already', async () => {
    const { audit, watching } = rig()
    for (const after of [undefined, '2000-01-01']) {
      const tail = audit.tail('', { signal: AbortSignal.abort(), after })
      await expect(tail.next()).rejects.toMatchObject({ code: 'ABORTED' })
    }
    expect(watching()).toBe(0)
  })

  it('without listeners left on its signal', async () => {
    const { pass } = driveTime()
    const { audit } = rig()
    const { signal } = new AbortController()
    const listeners = { added: 0, removed: 0 }
    const [add, remove] = [signal.addEventListener, signal.removeEventListener]
    signal.addEventListener = function added(...args: Parameters<typeof add>) {
      listeners.added++
      add.apply(signal, args)
    }
    signal.removeEventListener = function removed(...args: Parameters<typeof remove>) {
      listeners.removed++
      remove.apply(signal, args)
    }
    const tail = audit.tail('', { signal })
    void tail.next()
    await pass(30)
    await tail.return()
    expect(listeners).toEqual({ added: 1, removed: 1 })
  })

  it('with CLOSED when the log closes, after the recorded events', async () => {
    const { pass } = driveTime()
    const { audit, watching } = rig()
    const tail = audit.tail()
    const seen = next(tail, 1)
    await pass(30)
    const recorded = audit.recordCustom('a')
    await recorded
    expect(await seen).toBe('a')
    const waiting = next(tail, 1)
    waiting.catch(() => {})
    await pass(30)
    await audit.close()
    await expect(waiting).rejects.toMatchObject({ code: 'CLOSED' })
    expect(watching()).toBe(0)
    await expect(audit.tail().next()).rejects.toMatchObject({ code: 'CLOSED' })
    const resumed = audit.tail('', { after: '2000-01-01' })
    await expect(resumed.next()).rejects.toMatchObject({ code: 'CLOSED' })
  })
})

describe('imported events', () => {
  const old = (n: number, created_at: string): AuditEvent =>
    plainEvent({ id: numberedId(n), created_at })

  it('are not delivered: in the past, to an empty log, or later than all others', async () => {
    const clock = manualClock('2026-03-01T12:00:00Z')
    const audit: AuditLog = new AuditLog({ store: memoryStore({ clock }), types: {} })
    onTestFinished(() => audit.close())
    const early = audit.tail()
    await audit.importEvents([old(1, '2025-01-01T00:00:00.000000Z')])
    await record(audit, 'a')
    const late = audit.tail()
    clock.advance(3_600_000_000)
    await audit.importEvents([old(2, '2025-02-01T00:00:00.000000Z')])
    await audit.importEvents([old(3, '2026-03-01T12:30:00.000000Z')])
    await record(audit, 'b')
    expect(await next(early, 2)).toBe('a b')
    expect(await next(late, 1)).toBe('b')
    await Promise.all([early.return(), late.return()])
  })
})
