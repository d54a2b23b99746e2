import { auditRoutes, listRoute, recordRequests } from 'daybook/fetch'
import { expect, it, onTestFinished, vi } from 'vitest'
import { connectionAddress } from '../../src/http/fetch/address.js'
import { eventsOf, openLog } from './until-finished.js'

const URL_BASE = 'http://service.test'
const post = (path: string, init: RequestInit = {}): Request =>
  new Request(URL_BASE + path, { method: 'POST', ...init })
const done = (): Response => new Response('done')

it('a route handler is recorded under its given path', async () => {
  const audit = openLog()
  const record = recordRequests(audit)
  const ship = record(
    async (request: Request, { params }: { params: Promise<{ id: string }> }) =>
      Response.json({ shipped: (await params).id, with: await request.json() }),
    '/api/:token/orders/:id/ship',
  )
  const response = await ship(post('/api/h%C3%BCsh/orders/7/ship', { body: '{"by":"sea"}' }), {
    params: Promise.resolve({ id: '7' }),
  })
  expect(await response.json()).toEqual({ shipped: '7', with: { by: 'sea' } })
  expect(await eventsOf(audit)).toMatchObject([
    {
      type: 'api:orders:ship',
      attributes: {
        request_path: '/api/[redacted]/orders/7/ship',
        url_params: { token: '[redacted]', id: '7' },
        request_body: { by: 'sea' },
        response_status: 200,
      },
    },
  ])
})

const form = new FormData()
form.append('item', 'tea')
form.append('tag', 'a')
form.append('tag', 'b')
form.append('scan', new File(['x'], 'scan.png', { type: 'image/png' }))

it.each<[string, RequestInit, (request: Request) => Promise<unknown>, unknown]>([
  ['text', { body: 'plain' }, (request) => request.text(), 'plain'],
  [
    'text that is JSON',
    { body: '{"item":"tea"}', headers: { 'content-type': 'application/json; charset=utf-8' } },
    (request) => request.text(),
    { item: 'tea' },
  ],
  [
    'text that is a document of JSON:API',
    { body: '{"item":"tea"}', headers: { 'content-type': 'application/vnd.api+json' } },
    (request) => request.text(),
    { item: 'tea' },
  ],
  [
    'a form',
    { body: form },
    (request) => request.formData(),
    { item: 'tea', tag: ['a', 'b'], scan: 'scan.png' },
  ],
  ['bytes', { body: 'plain' }, (request) => request.arrayBuffer(), undefined],
  ['nothing', { body: 'plain' }, async () => 'unread', undefined],
])('the body of a handler that reads %s', async (_name, init, read, body) => {
  const audit = openLog()
  const handle = recordRequests(audit)(async (request: Request) => {
    await read(request)
    return done()
  }, '/orders')
  await handle(post('/orders', init))
  const [event] = await eventsOf(audit)
  expect(event!.attributes['request_body']).toEqual(body)
  const files = [{ field: 'scan', name: 'scan.png', type: 'image/png', size: 1 }]
  expect(event!.attributes['request_files']).toEqual(init.body === form ? files : undefined)
})

it('an error of the handler is recorded and thrown again', async () => {
  const audit = openLog()
  const failure = Object.assign(new Error('no such order'), { status: 404 })
  const thrown: unknown[] = [failure, 'a text', null]
  for (const value of thrown) {
    const handle = recordRequests(audit, { username: () => 'ann' })(() => {
      throw value
    }, '/orders')
    await expect(handle(post('/orders'))).rejects.toBe(value)
  }
  expect(await eventsOf(audit)).toMatchObject([
    { type: 'error:orders:create', attributes: { error: 'no such order', response_status: 404 } },
    { type: 'error:api:controller:unhandled', attributes: { error: 'a text' } },
    { type: 'error:api:controller:unhandled', attributes: { error: 'null', response_status: 500 } },
  ])
})

it('a required request of any method is recorded', async () => {
  const audit = openLog()
  const handle = recordRequests(audit, { required: true })(done, '/orders')
  const methods = ['patch', 'Delete', 'X'.repeat(300)]
  for (const method of methods) await handle(new Request(`${URL_BASE}/orders`, { method }))
  const events = await eventsOf(audit)
  expect(events.map(({ type, attributes }) => [type, attributes['request_method']])).toEqual([
    ['api:orders:update', 'patch'],
    ['api:orders:destroy', 'DELETE'],
    [`api:orders:${'x'.repeat(40)}`, 'X'.repeat(300)],
  ])
})

const ADDRESSES: readonly [string, unknown, string | undefined][] = [
  ['@hono/node-server', { incoming: { socket: { remoteAddress: '192.0.2.1' } } }, '192.0.2.1'],
  ['Bun', { requestIP: () => ({ address: '192.0.2.2' }) }, '192.0.2.2'],
  ['Bun after a disconnect', { requestIP: () => null }, undefined],
  ['Bun with bindings', { server: { requestIP: () => ({ address: '192.0.2.3' }) } }, '192.0.2.3'],
  ['Deno', { remoteAddr: { transport: 'tcp', hostname: '192.0.2.4', port: 1 } }, '192.0.2.4'],
  ['a worker', { DATABASE: 'name' }, undefined],
  ['nothing', undefined, undefined],
]

it.each(ADDRESSES)('the address with %s', (_name, passed, address = '') => {
  expect(connectionAddress(post('/orders'), passed)).toBe(address)
})

it('the option address gets the request and the further arguments of the server', async () => {
  const audit = openLog()
  const address = (request: Request, env: { header: string }): string =>
    request.headers.get(env.header) ?? ''
  const handle = recordRequests(audit, { address })((_request, _env: object) => done(), '/orders')
  await handle(post('/orders', { headers: { 'x-client': '192.0.2.9' } }), { header: 'x-client' })
  expect((await eventsOf(audit))[0]!.attributes['remote_address']).toBe('192.0.2.9')
})

it('a handler that has taken over the connection may return nothing', async () => {
  const audit = openLog()
  const handle = recordRequests(audit)(() => undefined)
  expect(await handle(new Request(URL_BASE))).toBeUndefined()
  expect(await eventsOf(audit)).toEqual([])
})

it('the reason is not awaited from a response that is still being produced', async () => {
  const audit = openLog()
  let end = (): void => {}
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.from('the first part'))
      end = () => controller.close()
    },
  })
  const response = await recordRequests(audit)(() => new Response(body, { status: 500 }))(post('/'))
  end()
  expect(await response.text()).toBe('the first part')
  expect(await eventsOf(audit)).toMatchObject([{ attributes: { error: 'Internal Server Error' } }])
})

it.each([
  ['a page', '<p>refused</p>', 'Bad Request'],
  ['binary data', Buffer.from([0xff, 0xfe]), 'Bad Request'],
  ['a long text', 'x'.repeat(70_000), 'Bad Request'],
  ['a text', 'refused', 'refused'],
])('the reason of a response with %s', async (_name, body, reason) => {
  const audit = openLog()
  const handle = recordRequests(audit)(() => new Response(body, { status: 400 }), '/orders')
  const response = await handle(post('/orders'))
  expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.from(body))
  expect((await eventsOf(audit))[0]!.attributes['error']).toBe(reason)
})

it('a server that cancels the response ends the stream', async () => {
  const audit = openLog()
  const feed = auditRoutes(audit, { username: () => 'ann' })
  const response = await feed(new Request(`${URL_BASE}/api/events/stream`))
  const reader = response!.body!.getReader()
  const first = await reader.read()
  expect(Buffer.from(first.value).toString()).toContain('retry: 2000')
  const waiting = reader.read()
  // Resolves when the feed has ended its stream.
  await reader.cancel()
  expect((await waiting).done).toBe(true)
})

it('a mount returns nothing for other paths and methods', async () => {
  expect(await auditRoutes(openLog())(new Request(`${URL_BASE}/orders`))).toBeUndefined()
  const things = listRoute({ resource: 'thing', attributes: {}, source: () => [{ id: '1' }] })
  expect(await things(post('/things'))).toBeUndefined()
})

it('a body that the host has read is an error of the host', async () => {
  const headers = { 'content-type': 'application/vnd.api+json' }
  const read = post('/api/events', { body: '{}', headers })
  await read.text()
  await expect(auditRoutes(openLog(), { username: () => 'ann' })(read)).rejects.toThrow(
    'the request body was already read',
  )
})

it.each<[string, string | null, object, string?]>([
  ['compressed', 'br', {}],
  ['not compressed on Next.js', null, { nextUrl: new URL(URL_BASE) }],
  ['not compressed in a worker', null, {}, 'Cloudflare-Workers'],
])('a list is %s', async (_what, coding, added, userAgent) => {
  const audit = openLog()
  await audit.recordCustom('note', { text: 'long'.repeat(500) })
  if (userAgent) {
    vi.stubGlobal('navigator', { userAgent })
    onTestFinished(() => void vi.unstubAllGlobals())
  }
  const request = new Request(`${URL_BASE}/api/events`, { headers: { 'accept-encoding': 'br' } })
  const feed = auditRoutes(audit, { username: () => 'ann' })
  const response = await feed(Object.assign(request, added))
  expect([response!.status, response!.headers.get('content-encoding')]).toEqual([200, coding])
  await response!.body!.cancel()
})
