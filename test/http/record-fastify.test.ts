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

it('the parts of a multipart request are recorded as the host reads them', async () => {
  const { app, audit } = create()
  await app.register(recordRequests(audit))
  // The form in which `@fastify/multipart` presents fields.
  const fields: Record<string, unknown> = {}
  const item = { type: 'field', fieldname: 'item', value: 'tea', mimetype: 'text/plain', fields }
  const stream = { bytesRead: 0 }
  const type = 'image/png'
  const scan = {
    type: 'file',
    fieldname: 'scan',
    filename: 'a.png',
    mimetype: type,
    file: stream,
    fields,
  }
  app.decorateRequest('parts', async function* () {
    Object.assign(fields, { item })
    yield await Promise.resolve(item)
    Object.assign(fields, { scan: [scan, { ...scan }] })
    yield scan
  })
  const read = async (request: object): Promise<string> => {
    const { parts } = request as { parts: () => AsyncIterable<object> }
    for await (const one of parts.call(request)) if (one === scan) stream.bytesRead = 5
    return 'done'
  }
  app.route({ method: 'POST', url: '/orders', handler: read })
  app.post('/notes', done)
  await app.inject({ method: 'POST', url: '/orders' })
  await app.inject({ method: 'POST', url: '/notes', payload: { text: 'a' } })
  const [order, note] = await eventsOf(audit)
  expect(order!.attributes).toMatchObject({
    request_body: { item: 'tea', scan: ['a.png', 'a.png'] },
    request_files: [{ field: 'scan', name: 'a.png', type, size: 5 }],
  })
  expect(note!.attributes['request_body']).toEqual({ text: 'a' })
  expect(note!.attributes).not.toHaveProperty('request_files')
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
