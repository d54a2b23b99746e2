import { AuditLog, type AuditLogError, defineEventTypes } from 'daybook'
import { assertCoverage, auditRoutes, basicAuth, listRoute, recordRequests } from 'daybook/fastify'
import { memoryStore } from 'daybook/memory'
import Fastify, { type FastifyInstance } from 'fastify'
import { expect, it, onTestFinished } from 'vitest'

const types = defineEventTypes({ 'api:orders:create': {}, 'api:orders:ship': {} })

function create(): { app: FastifyInstance; audit: AuditLog } {
  const audit: AuditLog = new AuditLog({ store: memoryStore(), types })
  const app = Fastify()
  onTestFinished(async () => {
    await app.close()
    await audit.close()
  })
  return { app, audit }
}

const done = (): string => 'done'
const recorded = async (audit: AuditLog) => (await audit.list()).events

it('routes are named with the prefixes of their plugins, also without a socket', async () => {
  const { app, audit } = create()
  await app.register(recordRequests(audit))
  await app.register(
    (orders, _options, end) => {
      orders.post('/:id/ship', done)
      orders.post('/files/*', done)
      end()
    },
    { prefix: '/:shop/orders' },
  )
  await app.inject({ method: 'POST', url: '/tea/orders/7/ship' })
  await app.inject({ method: 'POST', url: '/tea/orders/files/a/b' })
  expect(await recorded(audit)).toMatchObject([
    { type: 'api:orders:ship', attributes: { url_params: { shop: 'tea', id: '7' } } },
    { type: 'api:files:create', attributes: { url_params: { shop: 'tea', '*': 'a/b' } } },
  ])
})

it('a body that Fastify refuses is recorded with the reason', async () => {
  const { app, audit } = create()
  await app.register(recordRequests(audit))
  const schema = { body: { type: 'object', required: ['total'] } }
  app.post('/orders', { schema }, done)
  expect((await app.inject({ method: 'POST', url: '/orders', payload: {} })).statusCode).toBe(400)
  expect(await recorded(audit)).toMatchObject([
    {
      type: 'error:orders:create',
      attributes: { error: "body must have required property 'total'", response_status: 400 },
    },
  ])
})

it('a request whose hook refuses it is recorded', async () => {
  const { app, audit } = create()
  await app.register(recordRequests(audit))
  app.addHook('preHandler', (_request, reply) => reply.code(403).send('closed'))
  app.post('/orders', done)
  await app.inject({ method: 'POST', url: '/orders' })
  expect(await recorded(audit)).toMatchObject([
    { type: 'error:orders:create', attributes: { error: 'closed', response_status: 403 } },
  ])
})

it('the authenticated user is the actor after the body has been read', async () => {
  const { app, audit } = create()
  await app.register(basicAuth({ users: { ann: 'ann' } }))
  app.post('/orders', async () => {
    await audit.recordCustom('ordered', {})
    return 'done'
  })
  const headers = { authorization: `Basic ${Buffer.from('ann:ann').toString('base64')}` }
  await app.listen({ port: 0, host: '127.0.0.1' })
  const address = app.server.address() as { port: number }
  const url = `http://127.0.0.1:${address.port}/orders`
  const json = { ...headers, 'content-type': 'application/json' }
  expect(await (await fetch(url, { method: 'POST', headers: json, body: '{}' })).text()).toBe(
    'done',
  )
  expect((await fetch(url, { method: 'POST' })).status).toBe(401)
  expect(await recorded(audit)).toMatchObject([{ type: 'ordered', username: 'ann' }])
})

it('errors of the host go to its error handler, and headers of hooks are sent', async () => {
  const { app, audit } = create()
  app.addHook('onRequest', (_request, reply, next) => {
    reply.header('access-control-allow-origin', '*')
    next()
  })
  app.setErrorHandler((error, _request, reply) =>
    reply.code(500).send(`own: ${(error as Error).message}`),
  )
  const username = (request: { headers: object }): string => {
    if ('x-fail' in request.headers) throw new Error('the directory is away')
    return 'ann'
  }
  await app.register(auditRoutes(audit, { username }))
  app.get('/things', listRoute({ resource: 'thing', attributes: {}, source: () => [{ id: '1' }] }))
  const failed = await app.inject({ url: '/api/events', headers: { 'x-fail': '1' } })
  expect([failed.statusCode, failed.body]).toEqual([500, 'own: the directory is away'])
  const listed = await app.inject({ url: '/api/events' })
  expect([listed.statusCode, listed.headers['access-control-allow-origin']]).toEqual([200, '*'])
  expect((await app.inject({ url: '/things' })).json()).toMatchObject({ data: [{ id: '1' }] })
})

it('assertCoverage reads the routes that follow recordRequests', async () => {
  const { app, audit } = create()
  const fault = (): string | undefined => {
    try {
      assertCoverage(app, types)
      return undefined
    } catch (error) {
      return ((error as AuditLogError).cause as Error | undefined)?.message ?? 'no list'
    }
  }
  expect(fault()).toBe('no list')
  await app.register(recordRequests(audit))
  app.post('/orders', done)
  expect(fault()).toBe('api:orders:ship is registered, but no route records it')
  app.post('/orders/:id/ship', done)
  expect(fault()).toBeUndefined()
})
