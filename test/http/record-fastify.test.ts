import type { AuditLog } from 'daybook'
import { auditRoutes, recordRequests } from 'daybook/fastify'
import Fastify, { type FastifyInstance } from 'fastify'
import { expect, it, onTestFinished } from 'vitest'
import { eventsOf, openLog } from './until-finished.js'

function create(): { app: FastifyInstance; audit: AuditLog } {
  const audit = openLog()
  const app = Fastify()
  onTestFinished(() => app.close())
  return { app, audit }
}

const done = (): string => 'done'

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
  expect(await eventsOf(audit)).toMatchObject([
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
  expect(await eventsOf(audit)).toMatchObject([
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
  expect(await eventsOf(audit)).toMatchObject([
    { type: 'error:orders:create', attributes: { error: 'closed', response_status: 403 } },
  ])
})

it('the feed has the headers of hooks', async () => {
  const { app, audit } = create()
  app.addHook('onRequest', (_request, reply, next) => {
    reply.header('access-control-allow-origin', '*')
    next()
  })
  await app.register(auditRoutes(audit, { username: () => 'ann' }))
  const { statusCode, headers } = await app.inject({ url: '/api/events' })
  expect([statusCode, headers['access-control-allow-origin']]).toEqual([200, '*'])
})
