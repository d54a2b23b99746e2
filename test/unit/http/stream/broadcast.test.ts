import { setTimeout as delay } from 'node:timers/promises'
import { type AuditEvent, AuditLog, AuditLogError, type EventStore, parseQuery } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { faultyStore } from 'daybook/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { compileFilter } from '../../../../src/filter/evaluate.js'
import { type Broadcast, createBroadcast } from '../../../../src/http/stream/broadcast.js'
import type { Chunk, StreamView } from '../../../../src/http/stream/chunks.js'
import type { SessionOptions } from '../../../../src/tail/session.js'
import { createSharedTail } from '../../../../src/tail/shared-tail.js'
import { driveTime } from '../../drive-time.js'
import { stateOf, turns } from '../../fake-store.js'

const viewOf = (query = ''): StreamView => {
  const { where } = parseQuery(query)
  return { key: query, where, matches: compileFilter(where) }
}

interface Rig {
  readonly audit: AuditLog
  readonly broadcast: Broadcast
  /** Number of list queries of the store. */
  readonly lists: () => number
  /** Number of watchers of the store. */
  readonly watching: () => number
  read(query?: string, after?: string): Promise<AsyncGenerator<Chunk, void, void>>
}

const cleanUp: (() => unknown)[] = []

afterEach(async () => {
  for (const act of cleanUp.splice(0).toReversed()) await act()
})

function rig(options: SessionOptions = {}, inner: EventStore = memoryStore()): Rig {
  let watching = 0
  const store: EventStore = {
    ...inner,
    watch(hint) {
      const stop = inner.watch(hint)
      watching++
      return () => {
        watching--
        stop()
      }
    },
  }
  const list = vi.spyOn(store, 'list')
  const audit: AuditLog = new AuditLog({ store, types: {} })
  const broadcast = createBroadcast(createSharedTail(store, options), ({ type }) => `${type};`)
  cleanUp.push(() => audit.close())
  return {
    audit,
    broadcast,
    lists: () => list.mock.calls.length,
    watching: () => watching,
    read(query, after) {
      const stop = new AbortController()
      cleanUp.push(() => stop.abort())
      return broadcast.read(viewOf(query), { after, signal: stop.signal })
    },
  }
}

const record = async (audit: AuditLog, ...types: readonly string[]): Promise<AuditEvent[]> =>
  (await Promise.all(types.map((type) => audit.recordCustom(type)))).map((event) => event!)

const typesOf = (events: readonly AuditEvent[]): string => events.map(({ type }) => type).join(' ')

/** The types of the next `count` events. */
async function take(chunks: AsyncGenerator<Chunk>, count: number): Promise<string> {
  const events: AuditEvent[] = []
  while (events.length < count) {
    const { value, done } = await chunks.next()
    if (done) return `${typesOf(events)} and the end`
    events.push(...value.events)
    expect(Buffer.from(value.bytes).toString()).toBe(
      value.events.map(({ type }) => `${type};`).join(''),
    )
  }
  return typesOf(events)
}

/** Waits until the value is as wanted; fails with the last value. */
async function eventually<Value>(value: () => Value, wanted: Value): Promise<void> {
  const end = performance.now() + 60_000
  while (value() !== wanted && performance.now() < end) await delay(5)
  expect(value()).toBe(wanted)
}

describe('a broadcast', () => {
  it('gives events that become visible after read resolved, even before the first next', async () => {
    const { audit, read } = rig()
    await record(audit, 'before')
    const reader = await read()
    await record(audit, 'a', 'b')
    expect(await take(reader, 2)).toBe('a b')
    const next = reader.next()
    expect(await stateOf(next)).toBe('waiting')
    const [event] = await record(audit, 'c')
    expect((await next).value?.events).toEqual([event])
  })

  it('gives each reader its matching events', async () => {
    const { audit, read } = rig()
    const [a, b] = [await read('filter[type_start]=a'), await read('filter[type_start]=b')]
    await record(audit, 'a1', 'b1', 'c1', 'b2')
    expect(await take(a, 1)).toBe('a1')
    expect(await take(b, 2)).toBe('b1 b2')
  })

  it('renders events for views without a render function', async () => {
    const { audit, broadcast, read } = rig()
    const view = { ...viewOf(), key: 'own', render: (event: AuditEvent) => `<${event.type}>` }
    const { signal } = new AbortController()
    const own = await broadcast.read(view, { signal })
    const others = await read()
    await record(audit, 'a', 'b')
    expect(Buffer.from((await own.next()).value!.bytes).toString()).toBe('<a><b>')
    expect(await take(others, 2)).toBe('a b')
    await own.return()
  })

  it('resumes after a time, first from the store, then from the ring, even after a deleted event', async () => {
    const { pass } = driveTime()
    const { audit, read, lists } = rig()
    const events = await record(audit, 'a', 'b', 'c', 'd')
    await audit.store.remove([events[1]!.id])
    const reader = await read('', events[1]!.created_at)
    expect(await take(reader, 2)).toBe('c d')
    await record(audit, 'e')
    const next = take(reader, 1)
    await pass(50)
    expect(await next).toBe('e')
    const other = await read('', events[3]!.created_at)
    const before = lists()
    expect(await take(other, 1)).toBe('e')
    expect(lists()).toBe(before)
  })

  it('costs one poll of the store for all readers', async () => {
    const { pass } = driveTime()
    const { audit, read, lists } = rig()
    const readers = await Promise.all(Array.from({ length: 200 }, () => read()))
    const first = readers.map((reader) => take(reader, 1))
    await record(audit, 'a')
    await pass(50)
    await Promise.all(first)
    // The query that finds nothing more ends the poll.
    await pass(50)
    const before = lists()
    const second = readers.map((reader) => take(reader, 3))
    await record(audit, 'b', 'c', 'd')
    await pass(50)
    expect(new Set(await Promise.all(second))).toEqual(new Set(['b c d']))
    expect(lists() - before).toBeLessThanOrEqual(4)
  })

  it('gives readers of the same view the same bytes', async () => {
    const { audit, read } = rig()
    const readers = await Promise.all(
      ['', '', 'filter[type_eq]=a'].map(async (query) => read(query)),
    )
    const chunks = readers.map((reader) => reader.next())
    await record(audit, 'a')
    const [one, same, other] = (await Promise.all(chunks)).map(({ value }) => value!.bytes)
    expect(one).toBe(same)
    expect(other).toEqual(one)
    expect(other).not.toBe(one)
  })

  it('gives a reader behind the floor of the ring the rest from the store', async () => {
    const { audit, read } = rig({ maxEvents: 4, batchBytes: 16 })
    const [slow, fast] = [await read(), await read()]
    const types = Array.from({ length: 500 }, (_, n) => `n${n}`)
    for (let at = 0; at < types.length; at += 50) {
      const some = types.slice(at, at + 50)
      await record(audit, ...some)
      expect(await take(fast, 50)).toBe(some.join(' '))
    }
    const rest = take(slow, 501)
    await record(audit, 'last')
    expect(await rest).toBe(`${types.join(' ')} last`)
  })

  it('continues after the deletion of events that a slow reader has not received', async () => {
    const { audit, read } = rig({ maxEvents: 2, batchBytes: 16 })
    const slow = await read()
    const fast = await read()
    await record(audit, 'a')
    expect(await take(slow, 1)).toBe('a')
    const deleted = await record(audit, ...Array.from({ length: 100 }, (_, n) => `n${n}`))
    await take(fast, 101)
    await audit.store.remove(deleted.map(({ id }) => id))
    const next = take(slow, 1)
    await turns()
    await record(audit, 'b')
    expect(await next).toBe('b')
  })

  it('does not deliver imported events', async () => {
    const { audit, read } = rig()
    const [old] = await record(audit, 'old')
    const reader = await read('', '2000-01-01T00:00:00.000000Z')
    expect(await take(reader, 1)).toBe('old')
    await audit.importEvents([
      {
        ...old!,
        id: '3f2b6f0c-8d1c-4b1e-9a77-3d6a2c1f0e55',
        created_at: '2001-01-01T00:00:00.000000Z',
      },
    ])
    await record(audit, 'new')
    expect(await take(reader, 1)).toBe('new')
    expect(await take(await read('', '2000-01-01T00:00:00.000000Z'), 2)).toBe('old new')
  })

  it('stops watching the store when the last reader leaves, but keeps its events for some time', async () => {
    const { pass } = driveTime()
    const { broadcast, watching, lists, audit } = rig({ lingerMs: 5000 })
    const [before] = await record(audit, 'before')
    const stops = Array.from({ length: 3 }, () => new AbortController())
    const readers = await Promise.all(
      stops.map(({ signal }) => broadcast.read(viewOf(), { signal })),
    )
    const first = take(readers[0]!, 1)
    await pass(20)
    await record(audit, 'a')
    expect(await first).toBe('a')
    const waiting = readers[0]!.next()
    await pass(20)
    // The first reader waits, the second has not started, the third ends by itself.
    stops[0]!.abort()
    stops[1]!.abort()
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(watching()).toBe(1)
    stops[2]!.abort()
    expect(watching()).toBe(0)

    /** The number of queries of a new reader for an event that arrived while other readers were there. */
    const queries = async (): Promise<number> => {
      const start = lists()
      const stop = new AbortController()
      const options = { after: before!.created_at, signal: stop.signal }
      const reader = await broadcast.read(viewOf(), options)
      expect(watching()).toBe(1)
      expect(await take(reader, 1)).toBe('a')
      stop.abort()
      expect(watching()).toBe(0)
      return lists() - start
    }
    await pass(4900)
    expect(await queries()).toBe(0)
    await pass(5100)
    expect(await queries()).toBeGreaterThan(0)
  })

  it('stays open for readers that return soon', async () => {
    const { pass } = driveTime()
    const { broadcast, watching, lists, audit } = rig({ lingerMs: 60_000 })
    await record(audit, 'before')
    const [first, second] = [new AbortController(), new AbortController()]
    await broadcast.read(viewOf(), { signal: first.signal })
    await eventually(watching, 1)
    first.abort()
    await pass(30)
    const before = lists()
    const reader = await broadcast.read(viewOf(), {
      after: '2000-01-01T00:00:00.000000Z',
      signal: second.signal,
    })
    expect(await take(reader, 1)).toBe('before')
    // Events before the first reader come from the store, and no new tail starts.
    expect(lists() - before).toBe(2)
    expect(watching()).toBe(1)
    second.abort()
  })

  it('continues with readers that came back in time', async () => {
    const { broadcast, audit, read } = rig({ lingerMs: 20 })
    const stop = new AbortController()
    await broadcast.read(viewOf(), { signal: stop.signal })
    stop.abort()
    const reader = await read()
    await delay(50)
    await record(audit, 'a')
    expect(await take(reader, 1)).toBe('a')
  })

  it('starts without a gap while others record', async () => {
    const inner = memoryStore()
    await using other = new AuditLog({ store: { ...inner, close: async () => {} }, types: {} })
    const [old] = await record(other, 'old')
    let between: Promise<unknown> | undefined
    const { read } = rig(
      {},
      {
        ...inner,
        async list(query, options) {
          const page = await inner.list(query, options)
          await (between ??= record(other, 'between'))
          return page
        },
      },
    )
    const reader = await read('', old!.created_at)
    const first = take(reader, 2)
    await eventually(() => between !== undefined, true)
    await between
    await record(other, 'after')
    expect(await first).toBe('between after')
  })

  it('ends with the log, for current and new readers', async () => {
    const { audit, read, watching } = rig()
    const [reader, slow] = [await read(), await read()]
    const waiting = reader.next()
    await eventually(watching, 1)
    await audit.close()
    await expect(waiting).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(slow.next()).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(read()).rejects.toMatchObject({ code: 'CLOSED' })
    expect(watching()).toBe(0)
  })

  it('retries after a transient failure of the store', async () => {
    const inner = memoryStore()
    const store = faultyStore(inner)
    const { audit, read } = rig({ maxEvents: 2, batchBytes: 16 }, store)
    const [slow, fast] = [await read(), await read()]
    await record(audit, ...Array.from({ length: 50 }, (_, n) => `n${n}`))
    await take(fast, 50)
    store.fail('list')
    const rest = take(slow, 50)
    expect(await stateOf(rest)).toBe('waiting')
    store.heal()
    expect((await rest).split(' ')).toHaveLength(50)
  })

  it('makes progress if the store times out on the filter', async () => {
    const inner = memoryStore()
    let timeouts = 0
    const { audit, read } = rig(
      { maxEvents: 2, batchBytes: 16 },
      {
        ...inner,
        async list(query, options) {
          if (!JSON.stringify(query).includes('"end"')) return inner.list(query, options)
          timeouts++
          throw new AuditLogError('QUERY_TIMEOUT', 'too long')
        },
      },
    )
    const [slow, fast] = [await read('filter[type_end]=7'), await read()]
    const types = Array.from({ length: 50 }, (_, n) => `n${n}`)
    await record(audit, ...types)
    await take(fast, 50)
    expect(await take(slow, 5)).toBe('n7 n17 n27 n37 n47')
    expect(timeouts).toBe(1)
  })

  it('rejects if the newest event cannot be read', async () => {
    const store = faultyStore(memoryStore())
    const { audit, read, watching } = rig({}, store)
    store.fail('list')
    await expect(read()).rejects.toMatchObject({ code: 'STORE_FAILED' })
    store.heal()
    const reader = await read()
    await record(audit, 'a')
    expect(await take(reader, 1)).toBe('a')
    expect(watching()).toBe(1)
  })
})
