import { AuditLog, currentActor, defineEventTypes } from 'daybook'
import { auditRoutes, basicAuth, type FetchRequest, listRoute, recordRequests } from 'daybook/fetch'
import { memoryStore } from 'daybook/memory'
import { expect, it, onTestFinished, vi } from 'vitest'
import { takeWarnings } from '../support/warnings.js'

const types = defineEventTypes({ 'api:orders:create': {}, 'api:orders:ship': {} })

function create(): AuditLog {
  const audit: AuditLog = new AuditLog({ store: memoryStore(), types })
  onTestFinished(() => audit.close())
  return audit
}

const URL_BASE = 'http://service.test'
const post = (path: string, init: RequestInit = {}): Request =>
  new Request(URL_BASE + path, { method: 'POST', ...init })
const recorded = async (audit: AuditLog) => (await audit.list()).events
const authorization = `Basic ${Buffer.from('ann:ann').toString('base64')}`
const done = (): Response => new Response('done')

it('a route handler is recorded under the path that is given with it', async () => {
  const audit = create()
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
  expect(await recorded(audit)).toMatchObject([
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
form.append('scan', new File(['x'], 'scan.png'))

it.each<[string, RequestInit, (request: Request) => Promise<unknown>, unknown]>([
  ['text', { body: 'plain' }, (request) => request.text(), 'plain'],
  [
    'text that is JSON',
    { body: '{"item":"tea"}', headers: { 'content-type': 'application/json; charset=utf-8' } },
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
  const audit = create()
  const handle = recordRequests(audit)(async (request: Request) => {
    await read(request)
    return done()
  }, '/orders')
  await handle(post('/orders', init))
  const [event] = await recorded(audit)
  expect(event!.attributes['request_body']).toEqual(body)
})

it('an error of the handler is recorded and thrown again', async () => {
  const audit = create()
  const failure = Object.assign(new Error('no such order'), { status: 404 })
  const thrown: unknown[] = [failure, 'a text', null]
  for (const value of thrown) {
    const handle = recordRequests(audit, { username: () => 'ann' })(() => {
      throw value
    }, '/orders')
    await expect(handle(post('/orders'))).rejects.toBe(value)
  }
  expect(await recorded(audit)).toMatchObject([
    { type: 'error:orders:create', attributes: { error: 'no such order', response_status: 404 } },
    { type: 'error:api:controller:unhandled', attributes: { error: "'a text'" } },
    { type: 'error:api:controller:unhandled', attributes: { error: 'null', response_status: 500 } },
  ])
})

it.each([
  ['patch', 'update'],
  ['Delete', 'destroy'],
  ['BREW', 'brew'],
  ['M-SEARCH', 'm-search'],
  ["a.b!#$%&'*+^`|~c", 'a_b____________c'],
  ['X'.repeat(300), 'x'.repeat(40)],
  ['QUERY', 'query'],
])('a request of the method %s is recorded, as %s', async (method, verb) => {
  const audit = create()
  const record = recordRequests(audit, { required: true })
  const request = new Request(`${URL_BASE}/orders`, { method })
  await record(done, '/orders')(request)
  expect(await recorded(audit)).toMatchObject([
    { type: `api:orders:${verb}`, attributes: { request_method: request.method } },
  ])
})

it('routes may name requests of any method, in upper case', async () => {
  const audit = create()
  const routes = {
    'PATCH /orders': 'orders:amend',
    'LINK /orders': 'orders:join',
    'BREW /orders': false,
  } as const
  const handle = recordRequests(audit, { routes })(done, '/orders')
  for (const method of ['patch', 'LINK', 'BREW', 'UNLINK'])
    await handle(new Request(`${URL_BASE}/orders`, { method }))
  expect((await recorded(audit)).map(({ type }) => type)).toEqual([
    'api:orders:amend',
    'api:orders:join',
    'api:orders:unlink',
  ])
})

it('a function of the host that throws costs its value, not the event', async () => {
  const audit = create()
  const warnings = takeWarnings()
  const fail = (): never => {
    throw new Error('out of order')
  }
  const options = { address: fail, route: fail, username: fail, describe: fail, requestId: fail }
  const response = await recordRequests(audit, options)(done)(post('/orders'))
  expect(response.status).toBe(200)
  expect(await recorded(audit)).toMatchObject([{ type: 'api:unmatched:create', username: null }])
  expect(warnings).toContainEqual(new Error('out of order'))
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

it.each(ADDRESSES)('the address with %s', async (_name, passed, address) => {
  const audit = create()
  await recordRequests(audit)((_request, _passed: unknown) => done(), '/orders')(
    post('/orders'),
    passed,
  )
  expect((await recorded(audit))[0]!.attributes['remote_address']).toBe(address)
})

it('the option address gets the request and what the server passes', async () => {
  const audit = create()
  const address = (request: Request, env: { header: string }): string =>
    request.headers.get(env.header) ?? ''
  const handle = recordRequests(audit, { address })((_request, _env: object) => done(), '/orders')
  await handle(post('/orders', { headers: { 'x-client': '192.0.2.9' } }), { header: 'x-client' })
  expect((await recorded(audit))[0]!.attributes['remote_address']).toBe('192.0.2.9')
  const authenticate = basicAuth({ users: { ann: 'ann' }, failures: { perAddress: 1 }, address })(
    (_request, _env: object) => done(),
  )
  const statusFor = async (client: string): Promise<number> => {
    const request = post('/', {
      headers: { 'x-client': client, authorization: 'Basic YW5uOmJvYg==' },
    })
    return (await authenticate(request, { header: 'x-client' })).status
  }
  expect([
    await statusFor('192.0.2.1'),
    await statusFor('192.0.2.1'),
    await statusFor('192.0.2.2'),
  ]).toEqual([401, 429, 401])
})

it('basicAuth sets the user of the request and the actor', async () => {
  const audit = create()
  const seen: unknown[] = []
  const handle = recordRequests(audit)(
    basicAuth({ users: { ann: 'ann' } })((request: FetchRequest) => {
      seen.push(request.username, currentActor()?.username)
      return done()
    }),
    '/orders',
  )
  expect((await handle(post('/orders'))).status).toBe(401)
  expect((await handle(post('/orders', { headers: { authorization } }))).status).toBe(200)
  expect(seen).toEqual(['ann', 'ann'])
  expect(await recorded(audit)).toMatchObject([
    { type: 'error:orders:create', username: null },
    { type: 'api:orders:create', username: 'ann' },
  ])
})

it('a handler that has taken over the connection may return nothing', async () => {
  const audit = create()
  const handle = recordRequests(audit)(() => undefined)
  expect(await handle(new Request(URL_BASE))).toBeUndefined()
  expect(await recorded(audit)).toEqual([])
})

it('the reason is not awaited from a response that is still being produced', async () => {
  const audit = create()
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
  expect(await recorded(audit)).toMatchObject([{ attributes: { error: 'Internal Server Error' } }])
})

it.each([
  ['a page', '<p>refused</p>', 'Bad Request'],
  ['binary data', Buffer.from([0xff, 0xfe]), 'Bad Request'],
  ['a long text', 'x'.repeat(70_000), 'Bad Request'],
  ['a text', 'refused', 'refused'],
])('the reason of a response with %s', async (_name, body, reason) => {
  const audit = create()
  const handle = recordRequests(audit)(() => new Response(body, { status: 400 }), '/orders')
  const response = await handle(post('/orders'))
  expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.from(body))
  expect((await recorded(audit))[0]!.attributes['error']).toBe(reason)
})

it('a server that cancels the response ends the stream', async () => {
  const audit = create()
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
  const feed = auditRoutes(create())
  expect(await feed(new Request(`${URL_BASE}/orders`))).toBeUndefined()
  const things = listRoute({ resource: 'thing', attributes: {}, source: () => [{ id: '1' }] })
  expect(await things(post('/things'))).toBeUndefined()
  const listed = await things(new Request(`${URL_BASE}/things`))
  expect(await listed!.json()).toMatchObject({ data: [{ id: '1' }] })
})

it('errors of the host are thrown', async () => {
  const audit = create()
  const username = (): string => {
    throw new Error('the directory is away')
  }
  const feed = auditRoutes(audit, { username })
  await expect(feed(new Request(`${URL_BASE}/api/events`))).rejects.toThrow('the directory is away')
  const read = post('/api/events', {
    body: '{}',
    headers: { 'content-type': 'application/vnd.api+json' },
  })
  await read.text()
  await expect(auditRoutes(audit, { username: () => 'ann' })(read)).rejects.toThrow(
    'the request body was already read',
  )
})

it.each<[string, string | null, object, string?]>([
  ['compressed', 'br', {}],
  ['not compressed on Next.js', null, { nextUrl: new URL(URL_BASE) }],
  ['not compressed in a worker', null, {}, 'Cloudflare-Workers'],
])('a list is %s', async (_what, coding, added, userAgent) => {
  const audit = create()
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
