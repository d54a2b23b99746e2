import type { AuditEvent, EventChange } from 'daybook'
import jsonPatch, { type Operation as JsonPatchOperation } from 'fast-json-patch'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { expectError } from '../support/expect-error.js'
import { type EventPlace, sqlitePlace } from '../support/event-stores.js'
import { serve, type ServeOptions, type TestServer } from '../support/http.js'
import { type EventStream, openStream, type SentEvent } from '../support/server-sent.js'

const { applyPatch } = jsonPatch

const openServer = async (options: ServeOptions = {}): Promise<TestServer> => {
  const server = await serve(options)
  onTestFinished(server.close)
  return server
}

const streamOf = (
  { url }: TestServer,
  query = '',
  headers: Record<string, string> = {},
): Promise<EventStream> => openStream(`${url}/api/events/stream${query}`, headers)

interface SentDocument {
  readonly data: { readonly id: string; readonly attributes: Readonly<Record<string, unknown>> }
}

const documentOf = ({ data }: SentEvent): SentDocument => JSON.parse(data) as SentDocument

const typesOf = (events: readonly SentEvent[]): unknown[] =>
  events.map((event) => documentOf(event).data.attributes['type'])

const record = async ({ audit }: TestServer, ...types: readonly string[]): Promise<AuditEvent[]> =>
  (await Promise.all(types.map((type) => audit.recordCustom(type)))).map((event) => event!)

describe('GET /api/events/stream of a store of several processes', () => {
  let place: EventPlace
  let server: TestServer

  beforeEach(async () => {
    place = await sqlitePlace()
    onTestFinished(place.remove)
    server = await openServer({ store: place.open() })
  })

  it('sends events recorded after its headers arrived, as the documents of GET <id>', async () => {
    await record(server, 'before')
    const stream = await streamOf(server)
    const event = await server.audit.record(
      'api:changes:create',
      { name: 'line\nbreak', project_path: '/projects/acme' },
      { username: 'ann' },
    )
    const [sent] = await stream.take(1)
    expect(sent).toMatchObject({ event: 'message', lastEventId: event!.created_at })
    const { body } = await server.send(`/api/events/${event!.id}`)
    expect(documentOf(sent!)).toEqual({ data: (JSON.parse(body) as SentDocument).data })
  })

  it('resumes after any event, even a deleted one', async () => {
    const [a, b, c] = await record(server, 'a', 'b', 'c')
    await server.audit.store.remove([b!.id])
    const after = async (created_at: string): Promise<unknown[]> => {
      const stream = await streamOf(server, '', { 'last-event-id': created_at })
      return typesOf(await stream.take(2))
    }
    const [first, second, third] = [
      after(a!.created_at),
      after(b!.created_at),
      after(c!.created_at),
    ]
    await record(server, 'd', 'e')
    expect(await first).toEqual(['c', 'd'])
    expect(await second).toEqual(['c', 'd'])
    expect(await third).toEqual(['d', 'e'])
  })

  it('sends events of another process', async () => {
    const other = await openServer({ store: place.open() })
    const stream = await streamOf(server)
    await record(other, 'a', 'b')
    await record(server, 'c')
    await record(other, 'd')
    expect(typesOf(await stream.take(4))).toEqual(['a', 'b', 'c', 'd'])
  })

  it('sends changes of live events on request', async () => {
    const type = 'info:template_version:fetch'
    const before = await server.audit.recordLive(type, { progress: 'a' })
    const stream = await streamOf(server, '?changes=true&filter[type_start]=info:')
    const live = await server.audit.recordLive(type, { progress: '' })
    await stream.until(({ events }) => events.some(({ event }) => event === 'message'))
    await live.append('progress', 'half')
    await before.append('progress', 'b')
    await live.close()
    await before.close()
    const isClosed = ({ event, data }: SentEvent): boolean =>
      event === 'change' && (JSON.parse(data) as EventChange).closed
    await stream.until(({ events }) => events.filter(isClosed).length === 2)

    const attributes = new Map<string, object>()
    for (const sent of stream.sent.events) {
      if (sent.event === 'message') {
        expect(sent.lastEventId).toBe(live.event!.created_at)
        const { data } = documentOf(sent)
        attributes.set(data.id, { progress: data.attributes['progress'] })
        continue
      }
      const { id, created_at, patch } = JSON.parse(sent.data) as EventChange
      const event = [live, before].find((one) => one.event!.id === id)!.event!
      expect(created_at).toBe(event.created_at)
      const changed = applyPatch(attributes.get(id) ?? {}, [...patch] as JsonPatchOperation[])
      attributes.set(id, changed.newDocument)
    }
    expect(attributes.get(live.event!.id)).toEqual({ progress: 'half' })
    expect(attributes.get(before.event!.id)).toEqual({ progress: 'ab' })
    // Changes have no id, so the last id still belongs to the event.
    expect(stream.sent.events.at(-1)!.lastEventId).toBe(live.event!.created_at)
  })
})

describe('GET /api/events/stream', () => {
  it('sends the close of an event that was open when the headers were sent', async () => {
    const server = await openServer()
    const { audit } = server
    const tail = audit.tail.bind(audit)
    let start = (): void => {}
    const started = new Promise<void>((resolve) => (start = resolve))
    vi.spyOn(audit, 'tail').mockImplementation(async function* (...call: Parameters<typeof tail>) {
      await started
      yield* tail(...call)
    } as unknown as typeof tail)
    const live = await audit.recordLive('info:template_version:fetch', { progress: 'a' })
    const stream = await streamOf(server, '?changes=true')
    await live.close()
    start()
    await stream.until(({ events }) => events.length > 0)
    const { id, patch, closed } = JSON.parse(stream.sent.events[0]!.data) as EventChange
    expect({ id, closed }).toEqual({ id: live.event!.id, closed: true })
    expect(applyPatch({}, [...patch] as JsonPatchOperation[]).newDocument).toEqual({
      progress: 'a',
    })
  })

  it('is a stream of server-sent events that proxies must not cache or buffer', async () => {
    const server = await openServer()
    const stream = await streamOf(server)
    expect(stream.status).toBe(200)
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    })
    expect(stream.headers).not.toHaveProperty('content-encoding')
    await stream.until(({ retry }) => retry === 2000)
  })

  it('has the same filters as the list', async () => {
    const server = await openServer()
    const stream = await streamOf(server, '?filter[m]=or&filter[type_in][]=a&filter[type_end]=z')
    await record(server, 'a', 'b', 'ez', 'c', 'a')
    expect(typesOf(await stream.take(3))).toEqual(['a', 'ez', 'a'])
  })

  it('has the same fieldsets as the list', async () => {
    const server = await openServer()
    const [stream, whole] = [
      await streamOf(server, '?fields[event]=type,n'),
      await streamOf(server),
    ]
    await server.audit.recordCustom('a', { n: 1, m: 2 })
    const attributes = async (of: EventStream): Promise<unknown> =>
      documentOf((await of.take(1))[0]!).data.attributes
    expect(await attributes(stream)).toEqual({ type: 'a', n: 1 })
    expect(await attributes(whole)).toMatchObject({ type: 'a', n: 1, m: 2 })
  })

  it('sends only visible events, and calls onRead before they are sent', async () => {
    const read: string[] = []
    let letGo = (): void => {}
    const held = new Promise<void>((resolve) => (letGo = resolve))
    const server = await openServer({
      feed: {
        visible: ({ state }) => ({ username_eq: String(state['username']) }),
        async onRead(_ctx, { action, username, query, events }) {
          await held
          read.push(`${action} ${username} ${query} ${events.map(({ type }) => type).join()}`)
        },
      },
    })
    const stream = await streamOf(server, '?filter[type_not_eq]=c')
    await server.audit.recordCustom('a', {}, { username: 'bob' })
    await server.audit.recordCustom('b', {}, { username: 'ann' })
    await server.audit.recordCustom('c', {}, { username: 'ann' })
    await stream.until(({ retry }) => retry !== undefined)
    expect(stream.sent.events).toEqual([])
    letGo()
    expect(typesOf(await stream.take(1))).toEqual(['b'])
    expect(read).toEqual(['stream ann filter[type_not_eq]=c b'])
  })

  it('resumes after a time in the URL, which the header overrides', async () => {
    const server = await openServer()
    const [a, b] = await record(server, 'a', 'b', 'c')
    const query = `?after=${a!.created_at}`
    expect(typesOf(await (await streamOf(server, query)).take(2))).toEqual(['b', 'c'])
    const back = await streamOf(server, query, { 'last-event-id': b!.created_at })
    expect(typesOf(await back.take(1))).toEqual(['c'])
    const offset = `?after=${encodeURIComponent('2000-01-01T01:00+01:00')}`
    expect(typesOf(await (await streamOf(server, offset)).take(3))).toEqual(['a', 'b', 'c'])
  })

  it('refuses a Last-Event-ID that is not a time', async () => {
    const server = await openServer()
    const headers = { 'last-event-id': '17' }
    const response = await server.send('/api/events/stream', { headers })
    expectError(response, 400, 'INVALID_HEADER', { header: 'last-event-id' })
  })

  it('responds 406 if the client does not accept event streams', async () => {
    const server = await openServer()
    const status = async (accept: string): Promise<number> => {
      const { send } = server
      return (await send('/api/events/stream', { method: 'HEAD', headers: { accept } })).status
    }
    expect(await status('application/vnd.api+json')).toBe(406)
    expect(await status('text/event-stream')).toBe(200)
    expect(await status('text/*;q=0.5')).toBe(200)
    expect(await status('*/*')).toBe(200)
  })

  it('responds to HEAD at once', async () => {
    const server = await openServer()
    const response = await server.send('/api/events/stream', { method: 'HEAD' })
    expect(response.status).toBe(200)
    expect(response.headers['content-type']).toBe('text/event-stream; charset=utf-8')
    expect(response.headers).not.toHaveProperty('content-length')
    expect(response.body).toBe('')
    const wrong = await server.send('/api/events/stream?limit=1', { method: 'HEAD' })
    expect(wrong.status).toBe(400)
  })

  it('ends when the log is closed', async () => {
    const server = await openServer()
    const streams = [await streamOf(server), await streamOf(server, '?changes=1')]
    await Promise.all(streams.map((stream) => stream.until(({ retry }) => retry === 2000)))
    await server.audit.close()
    expect(await Promise.all(streams.map(({ ended }) => ended))).toEqual(['ended', 'ended'])
    expectError(await server.send('/api/events/stream'), 503, 'CLOSED')
  })

  it('sends comments while idle', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const server = await openServer()
    const streams = [await streamOf(server), await streamOf(server, '?changes=1')]
    await Promise.all(streams.map((stream) => stream.until(({ retry }) => retry === 2000)))
    for (const beats of [1, 2]) {
      vi.advanceTimersByTime(15_000)
      await Promise.all(
        streams.map((stream) => stream.until(({ comments }) => comments.length === beats)),
      )
    }
    // All streams share the timer.
    expect(vi.getTimerCount()).toBe(1)
    await record(server, 'a')
    for (const stream of streams) expect(typesOf(await stream.take(1))).toEqual(['a'])
  })
})
