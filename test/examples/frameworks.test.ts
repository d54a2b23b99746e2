import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import * as onConnect from '../../examples/frameworks/connect.js'
import * as onExpress from '../../examples/frameworks/express.js'
import * as onFastify from '../../examples/frameworks/fastify.js'
import * as onFetch from '../../examples/frameworks/fetch.js'
import * as onHono from '../../examples/frameworks/hono.js'
import * as onKoa from '../../examples/frameworks/koa.js'
import * as onNode from '../../examples/frameworks/node-http.js'
import * as onNest from '../../examples/frameworks/nest.js'
import * as withPassport from '../../examples/frameworks/passport.js'
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
    // The examples give open streams time to end.
    onTestFinished(() => stream.leave())
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
    expect(all.map(({ attributes }) => attributes['type'])).toEqual([
      'info:stock:reserved',
      'api:orders:create',
      // The page without a user.
      expect.stringMatching(/^error:/),
    ])
  })
})

describe('the example with passport', () => {
  it('records sign-ins, refusals and a lockout', async () => {
    const { url, close } = await withPassport.start(0)
    onTestFinished(close)
    const signIn = async (username: string, password: string): Promise<number> => {
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ username, password })
      return (await send(url, '/sign-in', { method: 'POST', user: null, headers, body })).status
    }
    expect(await signIn('ann', 'ann')).toBe(204)
    expect(await signIn('mallory', 'secret-word')).toBe(401)
    for (let attempt = 1; attempt <= 5; attempt++) expect(await signIn('bob', 'guess')).toBe(401)
    expect(await signIn('bob', 'bob')).toBe(401)
    const query = 'filter[type_cont_any][]=:sign_in:&filter[type_cont_any][]=:account:'
    const listed = await send(url, `/api/events?${query}&limit=20`)
    expect(listed.body).not.toMatch(/secret-word|guess/)
    const events = listOf(listed).data.map(({ attributes }) => {
      const { type, username = null, user_name = null, error = null, ...others } = attributes
      const { outcome, actor_id, reason } = others
      return [type, username, user_name, error, outcome, actor_id ?? reason]
    })
    const wrong = ['warn:sign_in:failure', null, 'bob', 'wrong password', 'denied', undefined]
    const reason = 'too many refused attempts'
    expect(events).toEqual([
      ['info:sign_in:success', 'ann', null, null, 'success', 'u-1'],
      ['warn:sign_in:failure', null, 'mallory', 'unknown account', 'denied', undefined],
      ...[wrong, wrong, wrong, wrong, wrong],
      ['info:account:lock', null, 'bob', null, 'success', reason],
      ['warn:sign_in:failure', null, 'bob', 'account locked', 'denied', undefined],
    ])
  })
})
