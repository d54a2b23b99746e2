import { setTimeout as delay } from 'node:timers/promises'
import { type AuditEvent, AuditLog, type EventStore } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sqlitePlace } from '../support/event-stores.js'
import { serve, type TestServer } from '../support/http.js'
import { openStream, type SentEvent } from '../support/server-sent.js'

const openServer = async (store: EventStore): Promise<TestServer> => {
  const server = await serve({ store })
  onTestFinished(server.close)
  return server
}

const numberOf = ({ data }: SentEvent): unknown =>
  (JSON.parse(data) as { data: { attributes: { n?: unknown } } }).data.attributes.n

const byTime = (one: AuditEvent, other: AuditEvent): number =>
  one.created_at < other.created_at ? -1 : 1

const numbers = (events: readonly AuditEvent[]): unknown[] =>
  events.toSorted(byTime).map(({ attributes }) => attributes['n'])

const END = -1

describe('a stream', () => {
  it('misses nothing and repeats nothing across disconnects with several writers', async () => {
    const place = await sqlitePlace()
    onTestFinished(place.remove)
    const server = await openServer(place.open())
    const logs = [0, 1, 2].map((): AuditLog => {
      const log = new AuditLog({ store: place.open(), types: {} })
      onTestFinished(() => log.close())
      return log
    })
    const [first] = [await server.audit.recordCustom('test:n', { n: 'first' })]
    const all: AuditEvent[] = []
    const write = async (log: AuditLog, from: number): Promise<void> => {
      for (let n = from; n < from + 100; n += 5) {
        const calls = [0, 1, 2, 3, 4].map((i) => log.recordCustom('test:n', { n: n + i }))
        all.push(...(await Promise.all(calls)).map((event) => event!))
        await delay(Math.random() * 10)
      }
    }
    const read = async (query: string): Promise<unknown[]> => {
      const seen: SentEvent[] = []
      let lastEventId = first!.created_at
      while (seen.length === 0 || numberOf(seen.at(-1)!) !== END) {
        const headers = { 'last-event-id': lastEventId }
        const stream = await openStream(`${server.url}/api/events/stream${query}`, headers)
        const count = Math.ceil(Math.random() * 40)
        await stream.until(
          ({ events }) => events.length >= count || events.some((event) => numberOf(event) === END),
        )
        stream.leave()
        seen.push(...stream.sent.events)
        lastEventId = seen.at(-1)!.lastEventId
      }
      return seen.map(numberOf)
    }
    const reading = ['', '', '?filter[n_lt]=150', '?fields[event]=n'].map(read)
    await Promise.all(logs.map((log, i) => write(log, i * 100)))
    await server.audit.recordCustom('test:n', { n: END })
    const [one, other, some, sparse] = await Promise.all(reading)
    const expected = [...numbers(all), END]
    expect(expected).toHaveLength(301)
    expect(one).toEqual(expected)
    expect(other).toEqual(expected)
    expect(some).toEqual(expected.filter((n) => Number(n) < 150))
    expect(sparse).toEqual(expected)
  })

  it('gives a client that pauses for long every event afterwards', async () => {
    const server = await openServer(memoryStore())
    const stream = await openStream(`${server.url}/api/events/stream`)
    const fast = await openStream(`${server.url}/api/events/stream?fields[event]=n`)
    stream.pause()
    // Far more than the sockets and the ring hold.
    const count = 6000
    const text = 'x'.repeat(4000)
    for (let n = 0; n < count; n += 500)
      await Promise.all(
        Array.from({ length: 500 }, (_, i) =>
          server.audit.recordCustom('test:n', { n: n + i, text }),
        ),
      )
    await fast.take(count)
    const { events } = stream.sent
    expect(events.length).toBeLessThan(count / 2)
    stream.resume()
    await stream.until(() => events.length === count)
    await server.audit.recordCustom('test:n', { n: count })
    await stream.until(() => events.length === count + 1)
    expect(events.map(numberOf)).toEqual(Array.from({ length: count + 1 }, (_, n) => n))
  })

  it('costs one poll of the store for all readers', async () => {
    const inner = memoryStore()
    let lists = 0
    const server = await openServer({
      ...inner,
      list(query, options) {
        lists++
        return inner.list(query, options)
      },
    })
    const url = `${server.url}/api/events/stream`
    const streams = await Promise.all(
      Array.from({ length: 50 }, (_, i) => openStream(i % 2 ? url : `${url}?filter[n_gt]=-1`)),
    )
    await server.audit.recordCustom('test:n', { n: 0 })
    await Promise.all(streams.map((stream) => stream.take(1)))
    const before = lists
    const batches = 5
    for (let n = 1; n <= batches; n++) {
      await server.audit.recordCustom('test:n', { n })
      await Promise.all(streams.map((stream) => stream.take(1)))
    }
    for (const { sent } of streams) expect(sent.events.map(numberOf)).toEqual([0, 1, 2, 3, 4, 5])
    // A poll reads the newest event and the new events. Timed polls come in between.
    expect(lists - before).toBeLessThan(batches * 10)
  })

  it('is released when its client disconnects', async () => {
    const inner = memoryStore()
    let watching = 0
    const server = await openServer({
      ...inner,
      watch(hint) {
        const stop = inner.watch(hint)
        watching++
        return () => {
          watching--
          stop()
        }
      },
    })
    const url = `${server.url}/api/events/stream?changes=1`
    const streams = await Promise.all([openStream(url), openStream(url)])
    await server.audit.recordCustom('test:n', { n: 0 })
    await Promise.all(streams.map((stream) => stream.take(1)))
    // All streams share the session of changes.
    expect(watching).toBe(1)
    for (const stream of streams) stream.leave()
    await expect.poll(() => watching).toBe(0)
  })
})
