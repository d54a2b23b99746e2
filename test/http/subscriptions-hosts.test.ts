import { getRequestListener } from '@hono/node-server'
import connect from 'connect'
import { AuditLog } from 'daybook'
import * as express from 'daybook/express'
import * as fastify from 'daybook/fastify'
import * as fetchHandlers from 'daybook/fetch'
import * as hono from 'daybook/hono'
import * as koa from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import * as node from 'daybook/node'
import { manualClock } from 'daybook/testing'
import expressApp from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import type http from 'node:http'
import Koa from 'koa'
import mount from 'koa-mount'
import { beforeAll, describe, expect, it } from 'vitest'
import { checkAnswersBy, type RawRequest, type RawResponse, send } from '../support/http.js'
import { listen } from '../support/node-server.js'
import { managementCheck } from '../support/openapi.js'
import {
  action,
  channelChange,
  CHANNELS,
  KEY,
  newChannel,
  newSubscription,
  notebook,
  REMOVAL,
  resourceOf,
  subscriptionChange,
  SUBSCRIPTIONS,
} from './managing.js'

type Listener = (request: http.IncomingMessage, response: http.ServerResponse) => unknown

const users = { ann: 'ann', bob: 'bob' }

/** bob may only read. */
const mayDo = (username: unknown, of: koa.SubscriptionsAction): 'all' | boolean =>
  username === 'ann' ? 'all' : of.endsWith(':list')

const byRequest = (
  request: { username?: string | null | undefined },
  of: koa.SubscriptionsAction,
) => mayDo(request.username, of)

const notFound = (): Response => new Response('nothing is here', { status: 404 })

/** @hono/node-server without its own classes `Request` and `Response`, which are global. */
const fetchListener = (handler: (request: Request, env: unknown) => unknown): Listener =>
  getRequestListener(handler, { overrideGlobalObjects: false })

type Host = (audit: AuditLog) => Listener

const hosts: Readonly<Record<string, Host>> = {
  Koa: (audit) => {
    const authorize = (ctx: Koa.Context, of: koa.SubscriptionsAction) =>
      mayDo(ctx.state['username'], of)
    const app = new Koa()
    app.use(koa.basicAuth({ users }))
    app.use(koa.subscriptionRoutes(audit, { authorize }))
    return app.callback()
  },
  'node:http': (audit) => {
    const authenticate = node.basicAuth({ users })
    const routes = node.subscriptionRoutes(audit, { authorize: byRequest })
    return (request, response) => authenticate(request, response, () => routes(request, response))
  },
  Connect: (audit) =>
    connect()
      .use(node.basicAuth({ users }))
      .use(node.subscriptionRoutes(audit, { authorize: byRequest })),
  Express: (audit) =>
    expressApp().use(
      express.basicAuth({ users }),
      express.subscriptionRoutes(audit, { authorize: byRequest }),
    ),
  'Express behind express.json': (audit) =>
    expressApp().use(
      expressApp.json({ type: 'application/vnd.api+json' }),
      express.basicAuth({ users }),
      express.subscriptionRoutes(audit, { authorize: byRequest }),
    ),
  Fastify: (audit) => {
    const app = Fastify()
    void app.register(fastify.basicAuth({ users }))
    void app.register(fastify.subscriptionRoutes(audit, { authorize: byRequest }))
    return async (request, response) => {
      await app.ready()
      app.routing(request, response)
    }
  },
  Fetch: (audit) => {
    const routes = fetchHandlers.subscriptionRoutes(audit, { authorize: byRequest })
    const authenticate = fetchHandlers.basicAuth({ users })
    return fetchListener(
      authenticate(
        async (request: Request, env: unknown) => (await routes(request, env)) ?? notFound(),
      ),
    )
  },
  Hono: (audit) => {
    const app = new Hono()
    app.use(hono.basicAuth({ users }))
    const authorize = (context: hono.HonoContext, of: koa.SubscriptionsAction) =>
      mayDo(context.get('username'), of)
    app.use(hono.subscriptionRoutes(audit, { authorize }))
    return fetchListener(app.fetch)
  },
}

const OUTER = '/outer'
const outer = { path: `${OUTER}/api`, authorize: byRequest }

/** Hosts that mount the endpoints under a path of theirs. */
const outerHosts: Readonly<Record<string, Host>> = {
  Koa: (audit) => {
    const authorize = (ctx: Koa.Context, of: koa.SubscriptionsAction) =>
      mayDo(ctx.state['username'], of)
    const inner = new Koa()
    inner.use(koa.basicAuth({ users }))
    inner.use(koa.subscriptionRoutes(audit, { path: outer.path, authorize }))
    return new Koa().use(mount(OUTER, inner)).callback()
  },
  Express: (audit) =>
    expressApp().use(
      OUTER,
      expressApp
        .Router()
        .use('/api', express.basicAuth({ users }), express.subscriptionRoutes(audit, outer)),
    ),
  Fastify: (audit) => {
    const app = Fastify()
    void app.register(fastify.basicAuth({ users }))
    void app.register(fastify.subscriptionRoutes(audit, outer), { prefix: OUTER })
    return async (request, response) => {
      await app.ready()
      app.routing(request, response)
    }
  },
}

const UUID = /[-\da-f]{36}/g

/** The status, the headers and the body, without ids, times and headers of the server. */
function comparable({ status, headers, body }: RawResponse, prefix: string): unknown {
  const { 'content-type': type, 'cache-control': caching, vary, allow, location } = headers
  const challenge = headers['www-authenticate']
  const bare = body
    .replaceAll(UUID, 'id')
    .replaceAll(`${prefix}/api/`, '/api/')
    .replaceAll(/"(position|duration_ms)":("[^"]*"|[\d.]+)/g, '"$1":0')
  const place = location?.slice(prefix.length).replace(/[-\da-f]{36}$/, 'id')
  return { status, type, caching, vary, allow, challenge, location: place, body: bare }
}

/** The responses of a host to one request after another. */
async function responsesOf(host: Host, prefix = ''): Promise<unknown[]> {
  const audit = new AuditLog({
    store: memoryStore({ clock: manualClock('2026-06-01T00:00:00Z') }),
    types: {},
    subscriptions: {
      channels: { search: { deliver: () => {} } },
      kinds: { notebook: notebook(new Map()) },
      secretsKey: KEY,
      deliver: false,
    },
  })
  const { url, close } = await listen(host(audit))
  const endChecks = checkAnswersBy(url, managementCheck(`${prefix}/api`))
  const answers: RawResponse[] = []
  const request = async (path: string, given?: RawRequest): Promise<string> => {
    const answer = await send(url, prefix + path, given)
    answers.push(answer)
    return answer.status === 201 ? resourceOf(answer).id : ''
  }
  try {
    const paused = { name: 'errors', channel: 'search', paused: true }
    const one = `${SUBSCRIPTIONS}/${await request(SUBSCRIPTIONS, newSubscription(paused))}`
    const pad = { name: 'pad', kind: 'notebook', config: { page: 'one' } }
    const channel = `${CHANNELS}/${await request(CHANNELS, newChannel(pad))}`
    for (const [path, given] of [
      [SUBSCRIPTIONS],
      [`${SUBSCRIPTIONS}?filter[name_eq]=errors&limit=1`],
      [`${SUBSCRIPTIONS}?filter[names_eq]=errors`],
      [SUBSCRIPTIONS, { method: 'HEAD' }],
      [SUBSCRIPTIONS, { user: null }],
      [SUBSCRIPTIONS, { method: 'PUT', body: 'x' }],
      [SUBSCRIPTIONS, { ...newSubscription(paused), user: 'bob' }],
      [SUBSCRIPTIONS, newSubscription({ ...paused, name: 'NO' })],
      [SUBSCRIPTIONS, { ...newSubscription(paused), headers: { 'content-type': 'text/plain' } }],
      [one],
      [one, subscriptionChange({ when_stuck: 'hold' })],
      [one, { ...subscriptionChange({}), user: 'bob' }],
      [`${one}/resume`, action()],
      [`${one}/pause`, action({})],
      [`${one}/replay`, action({ from: 'beginning' })],
      [`${one}/discard`, action({ which: 'all' })],
      [`${one}/parked`],
      [`${one}/nothing`],
      [`${SUBSCRIPTIONS}/me`],
      [`${SUBSCRIPTIONS}/openapi.json`],
      [CHANNELS],
      [channel],
      [channel, channelChange({ config: { page: 'two' } })],
      [`${channel}/disable`, action({ reason: 'it moves' })],
      [`${channel}/enable`, action()],
      [`${channel}/rotate_secret`, action()],
      [channel, REMOVAL],
      [channel],
      [one, REMOVAL],
      [`${one}/pause`, action()],
    ] satisfies [path: string, given?: RawRequest][])
      await request(path, given)
  } finally {
    endChecks()
    await close()
    await audit.close()
  }
  return answers.map((answer) => comparable(answer, prefix))
}

describe('every host', () => {
  let expected: unknown[]

  beforeAll(async () => {
    expected = await responsesOf(hosts['Koa']!)
  })

  it('responds as expected', () => {
    expect(expected.map((answer) => (answer as { status: number }).status)).toEqual([
      ...[201, 201],
      ...[200, 200, 400, 200, 401, 405, 403, 422, 415],
      ...[200, 200, 403, 200, 200, 200, 200, 200, 404, 200, 200],
      ...[200, 200, 200, 200, 200, 200, 204, 404, 204, 404],
    ])
  })

  it.each(Object.entries(hosts).slice(1))('responds alike: %s', async (_, host) => {
    expect(await responsesOf(host)).toEqual(expected)
  })

  it.each(Object.entries(outerHosts))('responds alike under a path: %s', async (_, host) => {
    expect(await responsesOf(host, OUTER)).toEqual(expected)
  })

  it('passes other paths on', async () => {
    for (const [name, listener] of Object.entries(hosts)) {
      const audit = new AuditLog({ store: memoryStore(), types: {} })
      const { url, close } = await listen(listener(audit))
      const { status, body } = await send(url, '/api/subscription')
      expect([name, status, body.includes('UNKNOWN')]).toEqual([name, 404, false])
      await close()
      await audit.close()
    }
  })
})
