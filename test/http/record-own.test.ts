import type http from 'node:http'
import { getRequestListener } from '@hono/node-server'
import connect from 'connect'
import { AuditLog } from 'daybook'
import * as forExpress from 'daybook/express'
import * as forFastify from 'daybook/fastify'
import * as forFetch from 'daybook/fetch'
import * as forHono from 'daybook/hono'
import * as forKoa from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import * as forNode from 'daybook/node'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { describe, expect, it, onTestFinished } from 'vitest'
import { newEvent, type RawRequest, send } from '../support/http.js'
import { type RunningHost, serve } from '../support/recorded-hosts.js'

/* A service on each framework, whose own handlers read the path in another way than the endpoints of the log. */

/** The path as such a service reads it: decoded, without dots, parameters and doubled slashes. */
function readPath(target: string): string {
  const [sent = ''] = target.replace(/^[a-z]+:\/\/[^/]+/i, '').split('?')
  const text = decodeURIComponent(decodeURIComponent(sent)).replaceAll('\\', '/').toLowerCase()
  const segments: string[] = []
  for (const segment of text.split('/')) {
    const [name = ''] = segment.split(';')
    if (name === '..') segments.pop()
    else if (name !== '' && name !== '.') segments.push(name)
  }
  return `/${segments.join('/')}`
}

const OF_SERVICE = new Set(['/projects', '/audit/settings', '/api/events/mine'])

/** True for requests that the service handles itself; the others are those of the log. */
const isOfService = (method: string | undefined, target: string): boolean =>
  method === 'POST' && OF_SERVICE.has(readPath(target))

type Start = (audit: AuditLog, required: boolean) => Promise<RunningHost>

/** The user as the endpoints find it. */
const user = (sent: string | string[] | undefined | null): string | null => {
  if (sent === 'fail') throw new Error('the directory is away')
  return sent ? String(sent) : null
}

const username = ({ headers }: http.IncomingMessage): string | null => user(headers['x-user'])
const ofRequest = ({ headers }: Request): string | null => user(headers.get('x-user'))
/** The user of a request as the service knows it. */
const known = ({ headers }: http.IncomingMessage): string | null =>
  headers['x-user'] === undefined ? null : String(headers['x-user'])
const knownOf = ({ headers }: Request): string | null => headers.get('x-user')

const hosts: Readonly<Record<string, Start>> = {
  Koa(audit, required) {
    const app = new Koa()
    app.silent = true
    app.use(forKoa.recordRequests(audit, { required, username: ({ req }) => known(req) }))
    app.use(async (ctx, next) => {
      if (!isOfService(ctx.method, ctx.req.url ?? '')) return next()
      ctx.status = 201
      return undefined
    })
    const options = { username: ({ req }: { readonly req: http.IncomingMessage }) => username(req) }
    app.use(forKoa.auditRoutes(audit, options))
    app.use(forKoa.auditPage(audit, options))
    return serve(app.callback())
  },

  'node:http'(audit, required) {
    const feed = forNode.auditRoutes(audit, { username })
    const page = forNode.auditPage(audit, { username })
    const listener: http.RequestListener = (request, response) => {
      if (isOfService(request.method, request.url ?? '')) response.writeHead(201).end()
      else feed(request, response, () => page(request, response))
    }
    return serve(forNode.recordListener(audit, listener, { required, username: known }))
  },

  Connect(audit, required) {
    const app = connect()
    app.use(forNode.recordRequests(audit, { required, username: known }))
    app.use((request, response, next: connect.NextFunction) => {
      if (isOfService(request.method, request.url ?? '')) response.writeHead(201).end()
      else next()
    })
    app.use(forNode.auditRoutes(audit, { username }))
    app.use(forNode.auditPage(audit, { username }))
    return serve(app)
  },

  Express(audit, required) {
    const app = express()
    app.set('env', 'test')
    app.use(forExpress.recordRequests(audit, { required, username: known }))
    app.use((request, response, next) => {
      if (isOfService(request.method, request.originalUrl)) response.status(201).end()
      else next()
    })
    app.use(forExpress.auditRoutes(audit, { username }))
    app.use(forExpress.auditPage(audit, { username }))
    return serve(app)
  },

  async Fastify(audit, required) {
    const app = Fastify({ forceCloseConnections: true })
    await app.register(
      forFastify.recordRequests(audit, { required, username: ({ raw }) => known(raw) }),
    )
    app.addHook('onRequest', (request, reply, done) => {
      if (isOfService(request.method, request.originalUrl)) void reply.code(201).send()
      else done()
    })
    const options = { username: ({ raw }: { readonly raw: http.IncomingMessage }) => username(raw) }
    await app.register(forFastify.auditRoutes(audit, options))
    await app.register(forFastify.auditPage(audit, options))
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    return { url, port: Number(new URL(url).port), close: () => app.close() }
  },

  Fetch(audit, required) {
    const feed = forFetch.auditRoutes(audit, { username: ofRequest })
    const page = forFetch.auditPage(audit, { username: ofRequest })
    const record = forFetch.recordRequests(audit, { required, username: knownOf })
    const handle = record(async (request: Request, env: { incoming: http.IncomingMessage }) =>
      isOfService(request.method, env.incoming.url ?? '')
        ? new Response(null, { status: 201 })
        : ((await feed(request)) ?? (await page(request)) ?? new Response(null, { status: 404 })),
    )
    return serve(
      getRequestListener(
        (request, env) =>
          handle(request, env as { incoming: http.IncomingMessage }).catch(
            () => new Response(null, { status: 500 }),
          ),
        { overrideGlobalObjects: false },
      ),
    )
  },

  Hono(audit, required) {
    const app = new Hono<{ Bindings: { incoming: http.IncomingMessage } }>()
    app.use(forHono.recordRequests(audit, { required, username: ({ req }) => knownOf(req.raw) }))
    app.use((context, next) =>
      isOfService(context.req.method, context.env.incoming.url ?? '')
        ? Promise.resolve(new Response(null, { status: 201 }))
        : next(),
    )
    const options = {
      username: ({ req }: { readonly req: { readonly raw: Request } }) => ofRequest(req.raw),
    }
    app.use(forHono.auditRoutes(audit, options))
    app.use(forHono.auditPage(audit, options))
    app.onError(() => new Response(null, { status: 500 }))
    return serve(getRequestListener(app.fetch, { overrideGlobalObjects: false }))
  },
}

/** Targets below the paths of the endpoints, which the service reads as its own. */
const TARGETS = [
  '/api/events/../../projects',
  '/api/events/./../../projects',
  '/api/events/%2e%2e/%2E%2E/projects',
  '/api/events/%252e%252e/%252e%252e/projects',
  '/api/events/..%2f..%2fprojects',
  '/api/events/..\\..\\projects',
  '/api/events/..;a=b/../projects',
  '/api/events/..//..//projects',
  '/api/events/../../PROJECTS?x=/api/events',
  '//api/events/../../projects',
  'http://example.com/api/events/../../projects',
  'http://example.com/api/events/mine',
  '/audit/../projects',
  '/audit/%2e%2e/projects',
  '/audit/settings',
  '/audit/Settings;v=1',
  '/api/events/mine',
]

const recorded = async (audit: AuditLog): Promise<unknown[]> =>
  (await audit.list({ limit: 1000 })).events.map(({ type, attributes }) => [
    type,
    attributes['response_status'],
  ])

const REFUSED = 'error:unmatched:create'
const UNHANDLED = 'error:api:controller:unhandled'

describe.each(Object.entries(hosts))('on %s', (_name, start) => {
  const run = async (required = false) => {
    const audit: AuditLog = new AuditLog({ store: memoryStore(), types: {} })
    const host = await start(audit, required)
    onTestFinished(async () => {
      await host.close()
      await audit.close()
    })
    const request = async (path: string, raw: RawRequest = {}, name: string | null = 'ann') => {
      const headers = { ...raw.headers, ...(name !== null && { 'x-user': name }) }
      return (await send(host.url, path, { ...raw, user: null, headers })).status
    }
    return { audit, request }
  }

  it.each([[false], [true]])(
    'a request that the service answers is recorded, whatever its path (required: %s)',
    async (required) => {
      const { audit, request } = await run(required)
      const statuses: number[] = []
      for (const target of TARGETS) statuses.push(await request(target, { method: 'POST' }))
      const handled = statuses.filter((status) => status === 201)
      // @hono/node-server itself refuses one of them.
      expect(handled.length).toBeGreaterThanOrEqual(TARGETS.length - 1)
      const type = expect.stringMatching(/^api:/) as string
      expect(await recorded(audit)).toEqual(handled.map((status) => [type, status]))
    },
  )

  it.each([[false], [true]])(
    'a request that an endpoint of the log answers leaves no event (required: %s)',
    async (required) => {
      const { audit, request } = await run(required)
      const answers: readonly [string, RawRequest, string | null, number][] = [
        ['/api/events', newEvent({ type: 'noted' }), 'ann', 201],
        ['/api/events', newEvent({ type: 'noted' }), null, 401],
        ['/api/events', { method: 'POST' }, 'ann', 415],
        ['/api/events', { method: 'DELETE' }, 'ann', 405],
        ['/api/events', {}, 'ann', 200],
        ['/api/events/nothing/here', { method: 'POST' }, 'ann', 404],
        ['/audit', { method: 'POST' }, 'ann', 405],
        ['/audit', { method: 'POST' }, null, 401],
      ]
      for (const [path, raw, name, status] of answers)
        expect([path, raw.method, await request(path, raw, name)]).toEqual([
          path,
          raw.method,
          status,
        ])
      expect(await recorded(audit)).toEqual([['noted', undefined]])
    },
  )

  it('a request near the paths of the endpoints is one of the service', async () => {
    const { audit, request } = await run()
    for (const path of ['/api/event', '/api/eventsX', '/auditors', '//audit', '/API/events'])
      expect([path, await request(path, { method: 'POST' })]).toEqual([path, 404])
    expect(await recorded(audit)).toEqual(Array.from({ length: 5 }, () => [REFUSED, 404]))
  })

  it('an error of a function of the host is a failure of the service', async () => {
    const { audit, request } = await run()
    expect(await request('/api/events', newEvent({ type: 'noted' }), 'fail')).toBe(500)
    expect(await recorded(audit)).toEqual([[UNHANDLED, 500]])
  })
})
