import net from 'node:net'
import { type CloudEvent, HTTP } from 'cloudevents'
import { AuditLog, type AuditEvent } from 'daybook'
import { webhook, type WebhookFormat, type WebhookOptions } from 'daybook/channels'
import { toCloudEvent, toOcsf, toOtlp } from 'daybook/formats'
import { memoryStore } from 'daybook/memory'
import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { readSecrets, signedHeaders } from '../../adapters/channels/signature.js'
import { ocsfFaults } from '../support/ocsf-schema.js'
import { throughProtobuf, withoutDefaults } from '../support/otlp-messages.js'
import {
  closeReceivers,
  deliveryOf,
  faultOf,
  numberedEvent as event,
  receive,
  type Received,
  type Respond,
} from '../support/receiver.js'
import { fakeTime, settled, until } from '../unit/subscriptions/world.js'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const OLD_SECRET = `whsec_${Buffer.alloc(24, 9).toString('base64')}`
const OTHER_SECRET = `whsec_${Buffer.alloc(32, 8).toString('base64')}`

afterEach(closeReceivers)

const send = (options: WebhookOptions, events: readonly AuditEvent[], signal?: AbortSignal) =>
  webhook(options).deliver(events, deliveryOf(events, signal))

/** Verifies the signature with the library of the standard, as receivers do. Throws if it is wrong. */
const verify = ({ headers, body }: Received, secret: string): unknown =>
  new Webhook(secret).verify(body, headers as Record<string, string>)

describe('a webhook', () => {
  it('posts one event as JSON, with its sentence', async () => {
    const { url, requests } = await receive()
    await send({ url, secret: SECRET, headers: { authorization: 'Bearer x' } }, [event(1)])
    const [request] = requests
    expect(request).toMatchObject({
      method: 'POST',
      path: '/hook/t0ken?key=s3cret',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'daybook',
        authorization: 'Bearer x',
        'webhook-id': event(1).id,
      },
    })
    expect(JSON.parse(request!.body)).toEqual({
      type: 'api:projects:create',
      timestamp: event(1).created_at,
      data: { ...event(1), sentence: 'ann created project shöp' },
    })
  })

  it('posts batches as a list, also of one event', async () => {
    const { url, requests } = await receive()
    const options = { url, secret: SECRET, batch: { maxEvents: 10 } }
    await send(options, [event(1), event(2)])
    await send(options, [event(3)])
    const bodies = requests.map(({ body }) => JSON.parse(body) as { data: AuditEvent[] })
    expect(bodies).toMatchObject([
      { type: 'events', timestamp: event(1).created_at },
      { type: 'events', timestamp: event(3).created_at },
    ])
    expect(bodies.map(({ data }) => data.map(({ attributes }) => attributes['n']))).toEqual([
      [1, 2],
      [3],
    ])
  })

  it('signs with each secret', async () => {
    const { url, requests } = await receive()
    await send({ url, secret: [SECRET, OLD_SECRET] }, [event(1)])
    const [request] = requests
    const body = { type: 'api:projects:create', timestamp: event(1).created_at }
    for (const secret of [SECRET, OLD_SECRET]) expect(verify(request!, secret)).toMatchObject(body)
    expect(() => verify(request!, OTHER_SECRET)).toThrow('No matching signature')
    const changed = { ...request!, body: request!.body.replace('shöp', 'shop') }
    expect(() => verify(changed, SECRET)).toThrow('No matching signature')
  })

  it('signs each batch, even if it is sent again', async () => {
    const { url, requests } = await receive()
    const channel = webhook({ url, secret: SECRET, batch: { maxEvents: 10 } })
    const events = [event(1), event(2)]
    await channel.deliver(events, deliveryOf(events))
    await channel.deliver(events, { ...deliveryOf(events), attempt: 2 })
    for (const request of requests)
      expect(verify(request, SECRET)).toMatchObject({ type: 'events' })
    const ids = requests.map(({ headers }) => headers['webhook-id'])
    expect(ids).toEqual([`${event(1).id}_${event(2).id}`, `${event(1).id}_${event(2).id}`])
  })

  it('compresses bodies with gzip, and signs the text before that', async () => {
    const { url, requests } = await receive()
    const events = Array.from({ length: 9 }, (_, n) => event(n))
    const options = { url, secret: SECRET, batch: { maxEvents: 10 } }
    await send({ ...options, compress: 'gzip' }, events)
    await send(options, events)
    const [small, large] = requests
    expect(small!.headers['content-encoding']).toBe('gzip')
    expect(large!.headers['content-encoding']).toBeUndefined()
    expect(small!.body).toBe(large!.body)
    const bytes = ({ headers }: Received): number => Number(headers['content-length'])
    expect(bytes(small!)).toBeLessThan(bytes(large!) / 2)
    expect(verify(small!, SECRET)).toMatchObject({ type: 'events' })
  })

  it('signs as the example of the standard', () => {
    const secrets = readSecrets('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
    const id = 'msg_p5jXN8AQM9LWM0D4loKWxJek'
    expect(signedHeaders(id, 1_614_265_330, Buffer.from('{"test": 2432232314}'), secrets)).toEqual({
      'webhook-id': id,
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    })
  })

  it('uses its connection again', async () => {
    const receiver = await receive()
    const channel = webhook({ url: receiver.url, secret: SECRET })
    for (let n = 1; n <= 5; n++) await channel.deliver([event(n)], deliveryOf([event(n)]))
    expect(receiver.requests).toHaveLength(5)
    expect(receiver.connections()).toBe(1)
  })

  it.each([400, 401, 404, 410, 422, 500, 503])('fails on the status %d', async (status) => {
    const { url } = await receive((_, response) => response.writeHead(status).end('no: s3cret'))
    const fault = await faultOf(send({ url, secret: SECRET }, [event(1)]))
    expect(fault).toMatchObject({
      kind: 'status',
      status,
      permanent: false,
      retryAfterMs: undefined,
    })
  })

  it('does not follow redirects', async () => {
    const target = await receive()
    const { url } = await receive((_, response) =>
      response.writeHead(307, { location: target.url }).end(),
    )
    const fault = await faultOf(send({ url, secret: SECRET }, [event(1)]))
    expect(fault).toMatchObject({ kind: 'status', status: 307 })
    expect(target.requests).toEqual([])
  })

  it('reads Retry-After, as seconds or as a date', async () => {
    const values = ['30', new Date(Date.now() + 3_600_000).toUTCString(), 'soon']
    const { url } = await receive((_, response) =>
      response.writeHead(429, { 'retry-after': values.shift()! }).end(),
    )
    const waits: (number | undefined)[] = []
    for (let n = 0; n < 3; n++)
      waits.push((await faultOf(send({ url, secret: SECRET }, [event(1)]))).retryAfterMs)
    expect(waits[0]).toBe(30_000)
    expect(waits[1]).toBeGreaterThan(3_000_000)
    expect(waits[1]).toBeLessThanOrEqual(3_600_000)
    expect(waits[2]).toBeUndefined()
  })

  it.each<[string, string, Respond]>([
    ['the receiver does not respond in time', 'timeout', () => {}],
    ['hangs in its response', 'timeout', (_, response) => void response.writeHead(200).write('x')],
    ['resets the connection', 'network', (_, response) => response.destroy()],
  ])('fails if %s', async (_what, kind, respond) => {
    const { url } = await receive(respond)
    const timeoutMs = kind === 'timeout' ? 50 : 60_000
    expect((await faultOf(send({ url, secret: SECRET, timeoutMs }, [event(1)]))).kind).toBe(kind)
  })

  it('fails if there is no connection', async () => {
    const gone = await receive()
    await gone.close()
    const fault = await faultOf(send({ url: gone.url, secret: SECRET }, [event(1)]))
    expect(fault.kind).toBe('network')
  })

  it('fails if the receiver switches to another protocol', async () => {
    const server = net.createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () =>
        socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
        ),
      )
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as net.AddressInfo).port}/`
    const fault = await faultOf(send({ url, secret: SECRET, timeoutMs: 60_000 }, [event(1)]))
    await new Promise((resolve) => server.close(resolve))
    expect(fault).toMatchObject({ kind: 'network' })
  })

  it('ends when its signal aborts', async () => {
    const { url, requests } = await receive(() => {})
    const stop = new AbortController()
    const sent = faultOf(send({ url, secret: SECRET }, [event(1)], stop.signal))
    await expect.poll(() => requests.length).toBeGreaterThan(0)
    stop.abort()
    expect((await sent).kind).toBe('network')
  })

  it('reads little of a long response', async () => {
    const { url } = await receive((_, response) => {
      response.writeHead(200)
      const write = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      }
      response.on('drain', write)
      write()
    })
    await expect(send({ url, secret: SECRET }, [event(1)])).resolves.toBeUndefined()
  })

  it.each<[string, Partial<Record<keyof WebhookOptions, unknown>>]>([
    ['url', { url: 'ftp://example.com/' }],
    ['url', { url: 'no url: s3cret' }],
    ['url', { url: 'https://ann:s3cret@example.com/' }],
    ['secret', { secret: 'whsec_c2hvcnQtczNjcmV0' }],
    ['secret', { secret: SECRET.slice(6) }],
    ['secret', { secret: [] }],
    ['webhook-id', { headers: { 'Webhook-Id': 'x' } }],
    ['content-type', { headers: { 'content-type': 'x' } }],
    [
      'headers',
      { headers: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`x-${n}`, ''])) },
    ],
    ['headers', { headers: { 'x y': '1' } }],
    ['headers', { headers: { 'x-key': 's3cret\r\nx-more: 1' } }],
    ['headers', { headers: { 'x-key': 1 } }],
    ['headers', { headers: [] }],
    ['transfer-encoding', { headers: { 'Transfer-Encoding': 'chunked' } }],
    ['compress', { compress: 'br' }],
    ['timeoutMs', { timeoutMs: 0 }],
  ])('refuses a wrong option without repeating it: %s', (name, wrong) => {
    const options = { url: 'https://example.com/', secret: SECRET, ...wrong } as WebhookOptions
    const open = () => webhook(options)
    expect(open).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
    expect(open).toThrow(new RegExp(name, 'i'))
    expect(open).not.toThrow(/s3cret/)
  })
})

describe('a subscription to a webhook', () => {
  it('delivers again after failures, and its secrets are in no event and no state', async () => {
    // The waits between attempts.
    fakeTime()
    onTestFinished(() => void vi.useRealTimers())
    let failures = 2
    const receiver = await receive((_, response) =>
      response.writeHead(failures-- > 0 ? 503 : 204, { 'retry-after': '0' }).end(),
    )
    const store = memoryStore()
    const audit: AuditLog = new AuditLog({
      store,
      types: {},
      subscriptions: {
        channels: { hook: webhook({ url: receiver.url, secret: SECRET }) },
        subscriptions: { all: { channel: 'hook', filter: 'filter[type_eq]=test:number' } },
      },
    })
    await audit.recordCustom('test:number', { n: 1 })
    await audit.recordCustom('test:number', { n: 2 })
    await until(async () => (await audit.subscriptions.status())[0]?.delivered === 2)
    expect(receiver.requests).toHaveLength(4)
    const ids = receiver.requests.map(({ headers }) => headers['webhook-id'])
    expect(new Set(ids.slice(0, 3)).size).toBe(1)
    expect(new Set(ids).size).toBe(2)
    const { events } = await audit.list('limit=100')
    expect(events).toMatchObject([
      {},
      {},
      {
        type: 'api:notification:error',
        attributes: { error: expect.stringContaining('503') as string },
      },
    ])
    const states = await store.readStates('', { limit: 1000 })
    const everything = JSON.stringify([events, states, await audit.subscriptions.status()])
    for (const secret of ['s3cret', 't0ken', 'whsec', SECRET.slice(6)])
      expect(everything).not.toContain(secret)
    await settled(audit.close())
  })
})

const events = [event(1), event(2)]

/** The request that delivers the events. Its signature has been verified. */
async function sent(
  options: Omit<WebhookOptions, 'url' | 'secret'>,
  delivered: readonly AuditEvent[],
): Promise<Received> {
  const { url, requests } = await receive()
  await send({ url, secret: SECRET, ...options }, delivered)
  const [request] = requests
  const { 'webhook-timestamp': seconds, 'webhook-id': id } = request!.headers
  const signed = new Webhook(SECRET)
  const signature = signed.sign(String(id), new Date(Number(seconds) * 1000), request!.body)
  expect(request!.headers['webhook-signature']).toBe(signature)
  return request!
}

const batch = { maxEvents: 10 }
const service = 'orders'
const { types } = deliveryOf(events)

describe('the format of a webhook', () => {
  it('sends CloudEvents in their structured mode, one by one', async () => {
    const { headers, body } = await sent({ format: 'cloudevents', service }, [events[0]!])
    expect(headers['content-type']).toBe('application/cloudevents+json')
    expect(JSON.parse(body)).toEqual(toCloudEvent(events[0]!, { source: 'orders', types }))
    const read = HTTP.toEvent({ headers, body }) as CloudEvent<AuditEvent>
    expect(read.validate()).toBe(true)
    expect(read.data).toMatchObject({ ...events[0] })
  })

  it('sends batches of CloudEvents, also of one event', async () => {
    for (const delivered of [events, events.slice(0, 1)]) {
      const { headers, body } = await sent({ format: 'cloudevents', batch }, delivered)
      expect(headers['content-type']).toBe('application/cloudevents-batch+json')
      const read = HTTP.toEvent({ headers, body }) as CloudEvent<AuditEvent>[]
      expect(read.map(({ id }) => id)).toEqual(delivered.map(({ id }) => id))
      expect(read[0]!.source).toBe('daybook')
    }
  })

  it('sends an event of OCSF, or a list of them', async () => {
    const one = await sent({ format: 'ocsf', service }, [events[0]!])
    expect(one.headers['content-type']).toBe('application/json')
    const expected = events.map((each) => toOcsf(each, { product: { name: 'orders' }, types }))
    expect(JSON.parse(one.body)).toEqual(expected[0])
    const list = JSON.parse(
      (await sent({ format: 'ocsf', service, batch }, events)).body,
    ) as object[]
    expect(list).toEqual(expected)
    expect(list.flatMap((each) => ocsfFaults({ ...each }))).toEqual([])
  })

  it('sends the request that collectors of OpenTelemetry take', async () => {
    for (const options of [{}, { batch }]) {
      const delivered = 'batch' in options ? events : events.slice(0, 1)
      const { headers, body } = await sent({ format: 'otlp', service, ...options }, delivered)
      expect(headers['content-type']).toBe('application/json')
      const request = JSON.parse(body) as object
      expect(request).toEqual(toOtlp(delivered, { service: 'orders', types }))
      expect(throughProtobuf(request).json).toEqual(withoutDefaults(request))
    }
  })

  it('sends a line of JSON for each event', async () => {
    const { headers, body } = await sent({ format: 'ndjson', batch }, events)
    expect(headers['content-type']).toBe('application/x-ndjson')
    expect(body.endsWith('\n')).toBe(true)
    const lines = body.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line) as AuditEvent)).toEqual(events)
  })

  it('compresses any format', async () => {
    const { headers, body } = await sent({ format: 'ndjson', batch, compress: 'gzip' }, events)
    expect(headers['content-encoding']).toBe('gzip')
    expect(body.split('\n')).toHaveLength(3)
  })

  it.each<[object, string]>([
    [{ format: 'xml' }, 'format must be one of standard, cloudevents, ocsf, otlp, ndjson'],
    [{ format: 'toString' }, 'format must be one of'],
    [{ format: 7 }, 'format must be one of'],
    [{ format: 'ocsf', service: '' }, 'service must be a text'],
    [{ service: 7 }, 'service must be a text'],
    [{ format: 'cloudevents', service: 'our orders' }, 'service must be a URI reference'],
  ])('refuses %j', (options, message) => {
    const wrong = { url: 'http://localhost', secret: SECRET, ...options } as WebhookOptions
    expect(() => webhook(wrong)).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTION',
        message: expect.stringContaining(message) as string,
      }),
    )
  })

  it('accepts any name of a service where no format asks for a URI reference', () => {
    for (const format of ['standard', 'ocsf', 'otlp', 'ndjson'] satisfies WebhookFormat[])
      expect(() =>
        webhook({ url: 'http://localhost', secret: SECRET, format, service: 'our orders' }),
      ).not.toThrow()
  })
})
