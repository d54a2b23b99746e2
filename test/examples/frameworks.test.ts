import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import * as onConnect from '../../examples/frameworks/connect.js'
import * as onExpress from '../../examples/frameworks/express.js'
import * as onFastify from '../../examples/frameworks/fastify.js'
import * as onFetch from '../../examples/frameworks/fetch.js'
import * as onHono from '../../examples/frameworks/hono.js'
import * as onKoa from '../../examples/frameworks/koa.js'
import * as onNode from '../../examples/frameworks/node-http.js'
import * as onNest from '../../examples/frameworks/nest.js'
import { listOf, send } from '../support/http.js'
import { openStream } from '../support/server-sent.js'

const examples = {
  Koa: onKoa,
  Express: onExpress,
  Fastify: onFastify,
  Hono: onHono,
  Fetch: onFetch,
  'NestJS on Express': onNest,
  'NestJS on Fastify': { start: onNest.startOnFastify },
  Connect: onConnect,
  'node:http': onNode,
}

// The global classes, which @hono/node-server replaces.
const { Request, Response } = globalThis
afterAll(() => {
  for (const [name, value] of Object.entries({ Request, Response }))
    Object.defineProperty(globalThis, name, { value })
})

describe.each(Object.entries(examples))('the example for %s', (_name, { start }) => {
  it('records requests, and serves the feed, a stream and the page', async () => {
    const { url, close } = await start(0)
    onTestFinished(close)
    const stream = await openStream(`${url}/api/events/stream`)
    expect(stream.status).toBe(200)
    const order = await send(url, '/orders', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"item":"tea","card_number":"4111"}',
    })
    expect([order.status, order.body]).toEqual([201, '{"ordered":true}'])
    expect((await stream.take(2)).map(({ data }) => JSON.parse(data) as unknown)).toMatchObject([
      { data: { attributes: { type: 'info:stock:reserved', username: 'ann' } } },
      { data: { attributes: { type: 'api:orders:create', username: 'ann' } } },
    ])
    const [event] = listOf(await send(url, '/api/events?filter[type_eq]=api:orders:create')).data
    expect(event!.attributes).toMatchObject({
      request_path: '/orders',
      request_body: { item: 'tea', card_number: '[redacted]' },
      response_status: 201,
    })
    const page = await send(url, '/audit')
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect((await send(url, '/audit', { user: null })).status).toBe(401)
    expect((await send(url, '/nowhere')).status).toBe(404)
    const all = listOf(await send(url, '/api/events')).data
    expect(all).toHaveLength(2)
  })
})
