import http from 'node:http'
import { type EventStore, parseQuery } from 'daybook'
import type { EventsRead } from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Broadcast, createBroadcast } from '../../src/http/stream/broadcast.js'
import { sharedTail } from '../../src/tail/shared-tail.js'
import { createStreamView } from '../../src/http/events/stream-view.js'
import { longPoll } from '../../src/http/events/long-poll.js'
import { expectError } from '../support/expect-error.js'
import { sqlitePlace } from '../support/event-stores.js'
import {
  listOf,
  type RawRequest,
  type RawResponse,
  serve,
  type ServeOptions,
  type TestServer,
} from '../support/http.js'

async function open(options: ServeOptions = {}): Promise<TestServer> {
  const server = await serve(options)
  onTestFinished(server.close)
  return server
}

const waiting = (seconds: number | string, request: RawRequest = {}): RawRequest => ({
  ...request,
  headers: { ...request.headers, prefer: `wait=${seconds}` },
})

/** A memory store that counts its queries and watchers. */
function counted(): {
  store: EventStore
  lists: () => number
  until: (count: number) => Promise<void>
} {
  const inner = memoryStore()
  let lists = 0
  const resolvers = new Map<number, () => void>()
  return {
    lists: () => lists,
    until: (count) =>
      new Promise((resolve) => {
        if (lists >= count) resolve()
        else resolvers.set(count, resolve)
      }),
    store: {
      ...inner,
      async list(query, options) {
        const page = await inner.list(query, options)
        resolvers.get(++lists)?.()
        return page
      },
    },
  }
}

/** Lets a test advance the time-outs, until it is over. */
function fakeTimeouts(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
}

/** Number of queries of a request before it waits: for the cursor of the tail, for its own cursor, and for the list. */
const STARTING_LISTS = 3

const types = (response: RawResponse): unknown[] =>
  listOf(response).data.map(({ attributes }) => attributes['type'])

describe('Prefer: wait', () => {
  it('delays an empty list until an event matches', async () => {
    const place = await sqlitePlace()
    onTestFinished(place.remove)
    const server = await open({ store: place.open() })
    await server.audit.recordCustom('b', { n: 0 })
    const response = server.send('/api/events?filter[type_eq]=a', waiting(60))
    await server.audit.recordCustom('b', { n: 1 })
    await server.audit.recordCustom('a', { n: 2 })
    const { status, headers, body } = await response
    expect(status).toBe(200)
    expect(headers['preference-applied']).toBe('wait=60')
    expect(headers['vary']?.split(', ')).toContain('Prefer')
    expect(listOf({ body }).data.map(({ attributes }) => attributes['n'])).toEqual([2])
  })

  it('responds at once if an event matches', async () => {
    const { audit, send } = await open()
    await audit.recordCustom('a')
    const response = await send('/api/events', waiting(60))
    expect(types(response)).toEqual(['a'])
    expect(response.headers['preference-applied']).toBe('wait=60')
  })

  it('responds with an empty list after the wait', async () => {
    fakeTimeouts()
    const { store, until } = counted()
    const { send } = await open({ store })
    const responding = send('/api/events?filter[type_eq]=a', waiting(1))
    let hasResponded = false
    void responding.then(() => (hasResponded = true))
    await until(STARTING_LISTS)
    await vi.advanceTimersByTimeAsync(999)
    expect(hasResponded).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    const response = await responding
    expect(response.status).toBe(200)
    expect(types(response)).toEqual([])
    expect(response.headers['preference-applied']).toBe('wait=1')
  })

  it('finds imported events at the end of the wait', async () => {
    fakeTimeouts()
    const { store, until } = counted()
    const { audit, send } = await open({ store })
    const old = (await audit.recordCustom('old'))!
    const response = send(
      '/api/events?filter[type_eq]=old&filter[created_at_lt]=2001-01-01',
      waiting(1),
    )
    await until(STARTING_LISTS)
    await audit.importEvents([
      {
        ...old,
        id: '3f2b6f0c-8d1c-4b1e-9a77-3d6a2c1f0e55',
        created_at: '2000-01-01T00:00:00.000000Z',
      },
    ])
    await vi.advanceTimersByTimeAsync(1000)
    expect(types(await response)).toEqual(['old'])
  })

  it.each([
    ['wait=120', 'wait=60'],
    ['respond-async, WAIT="1"; x=y', 'wait=1'],
    ['wait=0', 'wait=0'],
    ['wait=soon', undefined],
    ['respond-async', undefined],
  ])('%s is applied as %s', async (prefer, applied) => {
    const { audit, send } = await open()
    await audit.recordCustom('a')
    const { headers } = await send('/api/events', { headers: { prefer } })
    expect(headers['preference-applied']).toBe(applied)
    expect(headers['vary']?.split(', ')).toContain('Prefer')
  })

  it('does not delay responses without a valid wait', async () => {
    const { send } = await open()
    for (const prefer of ['wait=0', 'wait=-1', 'wait=soon', 'respond-async'])
      expect(types(await send('/api/events', { headers: { prefer } }))).toEqual([])
  })

  it('supports HEAD', async () => {
    const { store, until } = counted()
    const { audit, send } = await open({ store })
    const response = send('/api/events', waiting(60, { method: 'HEAD' }))
    await until(STARTING_LISTS)
    await audit.recordCustom('a')
    const { status, headers, body } = await response
    expect([status, body, headers['preference-applied']]).toEqual([200, '', 'wait=60'])
  })

  it('returns events that arrive together in the requested order and up to the limit', async () => {
    const { store, until } = counted()
    const { audit, send } = await open({ store })
    const newest = send('/api/events?limit=2', waiting(60))
    const sorted = send('/api/events?limit=2&filter[sorts]=type%20desc', waiting(60))
    await until(STARTING_LISTS + 2)
    await Promise.all(['b', 'c', 'a', 'd', 'b'].map((type) => audit.recordCustom(type)))
    expect((await newest).status).toBe(206)
    expect(types(await newest)).toEqual(['d', 'b'])
    expect(listOf(await newest).links.prev).toContain('filter[created_at_lt]')
    expect((await sorted).status).toBe(206)
    expect(types(await sorted)).toEqual(['d', 'c'])
  })

  it('is woken only by visible events', async () => {
    const { store, until } = counted()
    const read: number[] = []
    const { audit, send } = await open({
      store,
      feed: {
        visible: ({ state }) => ({ username_eq: String(state['username']) }),
        onRead: (_ctx, { events }) => void read.push(events.length),
      },
    })
    const response = send('/api/events', waiting(60))
    await until(STARTING_LISTS)
    await audit.recordCustom('a', {}, { username: 'bob' })
    await audit.recordCustom('b', {}, { username: 'ann' })
    expect(types(await response)).toEqual(['b'])
    expect(read).toEqual([1])
  })

  it('needs no query for each waiting request, neither before a match nor at the match', async () => {
    const { store, lists } = counted()
    const count = 40
    let begun = 0
    let begin = (): void => {}
    const allWait = new Promise<void>((resolve) => (begin = resolve))
    const { audit, send } = await open({
      store: {
        ...store,
        async list(query, options) {
          const page = await store.list(query, options)
          // The last query of each request before it waits. Timed polls of the tail have no filter.
          if (query.where && ++begun === count) begin()
          return page
        },
      },
    })
    const responses = Array.from({ length: count }, () =>
      send('/api/events?filter[type_eq]=a', waiting(60)),
    )
    await allWait
    const before = lists()
    await audit.recordCustom('b')
    await audit.recordCustom('a')
    for (const response of await Promise.all(responses)) expect(types(response)).toEqual(['a'])
    // The queries of the shared tail: for its newest event, then for new events.
    expect(lists() - before).toBeLessThan(10)
  })

  it('ends when the client disconnects', async () => {
    const { store, until } = counted()
    let resolveCount = (_count: number): void => {}
    const given = new Promise<number>((resolve) => (resolveCount = resolve))
    const feed = {
      onRead: (_ctx: unknown, { events }: EventsRead): void => resolveCount(events.length),
    }
    const { url } = await open({ store, feed })
    const headers = { prefer: 'wait=60' }
    const request = http.get(`${url}/api/events`, { auth: 'ann:ann', agent: false, headers })
    request.on('error', () => {})
    await until(STARTING_LISTS)
    request.destroy()
    expect(await given).toBe(0)
  })

  it('leaves no listeners behind when the client disconnects', async () => {
    const { audit } = await open()
    const disconnect = new AbortController()
    const broadcast = createBroadcast(sharedTail(audit.store), () => '')
    const signals: AbortSignal[] = []
    const read: Broadcast['read'] = (view, options) => {
      signals.push(options.signal)
      return broadcast.read(view, options)
    }
    const query = parseQuery('limit=1')
    const page = longPoll({
      broadcast: { read },
      view: createStreamView(undefined, ''),
      query,
      seconds: 60,
      list: () => audit.list(query),
      signal: disconnect.signal,
    })
    disconnect.abort()
    expect(await page).toEqual({ events: [], truncated: false })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  })

  it('responds 503 when the log is closed', async () => {
    const { store, until } = counted()
    const { audit, send } = await open({ store })
    const response = send('/api/events', waiting(60))
    await until(STARTING_LISTS)
    await audit.close()
    expectError(await response, 503, 'CLOSED')
  })
})
