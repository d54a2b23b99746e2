import { createAdaptorServer } from '@hono/node-server'
import { auditRoutes, basicAuth, recordRequests } from 'daybook/hono'
import { type Context, Hono } from 'hono'
import { cors } from 'hono/cors'
import { HTTPException } from 'hono/http-exception'
import { validator } from 'hono/validator'
import { expect, it, onTestFinished } from 'vitest'
import { send } from '../support/http.js'
import { eventsOf, openLog } from './until-finished.js'

const POST = { method: 'POST' }

it('routes are named with the paths of their apps', async () => {
  const audit = openLog()
  const orders = new Hono()
    .post('/:id{[0-9]+}/ship', (context) => context.text('done'))
    .all('/any', (context) => context.text('done'))
  const wrapped = new Hono()
    .onError((_error, context) => context.text('own', 418))
    .post('/fail', () => {
      throw new Error('it broke')
    })
  const app = new Hono()
    .use(recordRequests(audit))
    .use('/:shop/*', async (_context, next) => next())
    .route('/:shop/orders', orders)
    .route('/wrapped', wrapped)
  await app.request('/tea/orders/7/ship', POST)
  await app.request('/tea/orders/any', POST)
  expect((await app.request('/wrapped/fail', POST)).status).toBe(418)
  expect(await eventsOf(audit)).toMatchObject([
    { type: 'api:orders:ship', attributes: { url_params: { shop: 'tea', id: '7' } } },
    { type: 'api:any:create', attributes: { url_params: { shop: 'tea' } } },
    { type: 'error:fail:create', attributes: { error: 'it broke', response_status: 418 } },
  ])
})

it('a request that middleware refuses has the route and the secrets of its handler', async () => {
  const audit = openLog()
  const app = new Hono()
    .use(recordRequests(audit))
    .use(async (context) => context.text('closed', 403))
    .post('/tokens/*', async (_context, next) => next())
    .post('/tokens/:token', (context) => context.text('done'))
  await app.request('/tokens/hush', POST)
  expect(await eventsOf(audit)).toMatchObject([
    {
      type: 'error:tokens:create',
      attributes: { error: 'closed', request_path: '/tokens/[redacted]', response_status: 403 },
    },
  ])
})

it('errors are recorded with any response of onError', async () => {
  const audit = openLog()
  const app = new Hono()
    .use(recordRequests(audit))
    .post('/orders', () => {
      throw new HTTPException(402, { message: 'pay first' })
    })
    .get('/orders', () => {
      throw new Error('it broke')
    })
    .onError((error, context) => context.text('own', error instanceof HTTPException ? 402 : 500))
    .post('/orders/:id/ship', () => {
      throw 'not an error'
    })
  expect((await app.request('/orders', POST)).status).toBe(402)
  expect((await app.request('/orders')).status).toBe(500)
  await expect(app.request('/orders/7/ship', POST)).rejects.toBe('not an error')
  expect(await eventsOf(audit)).toMatchObject([
    { type: 'error:orders:create', attributes: { error: 'pay first', response_status: 402 } },
    {
      type: 'error:api:controller:unhandled',
      attributes: {
        error: 'it broke',
        backtrace: expect.stringContaining('record-hono') as string,
      },
    },
    { type: 'error:api:controller:unhandled', attributes: { error: 'not an error' } },
  ])
})

it('a handler that gives no response has failed', async () => {
  const audit = openLog()
  const app = new Hono()
    .use(recordRequests(audit))
    .post('/orders', (() => undefined) as never)
    .onError((error, context) => context.text(error.message, 500))
  expect((await app.request('/orders', POST)).status).toBe(500)
  expect(await eventsOf(audit)).toMatchObject([
    {
      type: 'error:api:controller:unhandled',
      attributes: { error: 'the handler gave no response', response_status: 500 },
    },
  ])
})

it('the body is taken from Hono, which has read it', async () => {
  const audit = openLog()
  const form = new FormData()
  form.append('item', 'tea')
  const scan = new File(['x'], 'scan.png')
  const scans = new FormData()
  scans.append('scan', scan)
  const app = new Hono()
    .use(recordRequests(audit))
    .post('/json', async (context) => context.json(await context.req.json()))
    .post('/form', async (context) => context.json(await context.req.parseBody()))
    .post(
      '/valid',
      validator('json', (value: object) => value),
      (context) => context.text('done'),
    )
    .post('/wrong', async (context) => context.text(String(await context.req.json().catch(String))))
    .post('/unread', (context) => context.text('done'))
  const json = { ...POST, body: '{"item":"tea"}', headers: { 'content-type': 'application/json' } }
  await app.request('/json', json)
  await app.request('/form', { ...POST, body: form })
  await app.request('/form', { ...POST, body: scans })
  await app.request('/valid', json)
  await app.request('/wrong', { ...json, body: '{' })
  await app.request('/unread', json)
  const events = await eventsOf(audit)
  const tea = { item: 'tea' }
  const bodies = [tea, tea, { scan: 'scan.png' }, tea, '{', undefined]
  expect(events.map(({ attributes }) => attributes['request_body'])).toEqual(bodies)
  expect(events[2]!.attributes['request_files']).toMatchObject([{ name: 'scan.png', size: 1 }])
})

it('functions of the options may take the context of an app with its own variables', async () => {
  interface Env {
    Variables: { user: { name: string } }
  }
  const audit = openLog()
  const app = new Hono<Env>()
    .use(recordRequests(audit, { username: (context: Context<Env>) => context.get('user').name }))
    .use(async (context, next) => {
      context.set('user', { name: 'ann' })
      await next()
    })
    .post('/orders', (context) => context.text('done'))
  await app.request('/orders', POST)
  expect(await eventsOf(audit)).toMatchObject([{ type: 'api:orders:create', username: 'ann' }])
})

it('the feed keeps headers of middleware, and Vary of both', async () => {
  const app = new Hono()
    .use(cors({ origin: 'http://page.test' }))
    .use(async (context, next) => {
      context.res.headers.append('vary', 'x-tenant')
      await next()
    })
    .use(auditRoutes(openLog(), { username: () => 'ann' }))
  const { headers, status } = await app.request('/api/events', {
    headers: { origin: 'http://page.test' },
  })
  expect([status, headers.get('access-control-allow-origin')]).toEqual([200, 'http://page.test'])
  expect(headers.get('vary')).toMatch(/x-tenant, .*accept-encoding.*Origin/i)
})

it('a refusal keeps its text with the classes of @hono/node-server', async () => {
  const { Request, Response } = globalThis
  const audit = openLog()
  const app = new Hono()
    .use(recordRequests(audit))
    .use(basicAuth({ users: { ann: 'ann' } }))
    .post('/orders', (context) => context.json({ errors: [{ detail: 'sold out' }] }, 409))
  const server = createAdaptorServer({ fetch: app.fetch })
  onTestFinished(async () => {
    await new Promise((resolve) => server.close(resolve))
    for (const [name, value] of Object.entries({ Request, Response }))
      Object.defineProperty(globalThis, name, { value })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const response = await send(`http://127.0.0.1:${port}`, '/orders', POST)
  expect([response.status, response.body]).toEqual([409, '{"errors":[{"detail":"sold out"}]}'])
  expect(response.headers).toMatchObject({
    'content-type': 'application/json',
    'content-length': '34',
  })
  expect(await eventsOf(audit)).toMatchObject([
    {
      type: 'error:orders:create',
      username: 'ann',
      attributes: { error: 'sold out', remote_address: '127.0.0.1' },
    },
  ])
})
