import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import connect from 'connect'
import { AuditLog } from 'daybook'
import * as fastify from 'daybook/fastify'
import * as fetchHandlers from 'daybook/fetch'
import * as hono from 'daybook/hono'
import type { EventsAction } from 'daybook/koa'
import * as koa from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import * as node from 'daybook/node'
import { manualClock } from 'daybook/testing'
import express from 'express'
import Fastify from 'fastify'
import { Hono, type MiddlewareHandler } from 'hono'
import Koa from 'koa'
import mount from 'koa-mount'

/** A server on a free port of the loopback address. */
export interface Listening {
  readonly url: string
  close(): Promise<void>
}

type Listener = (request: http.IncomingMessage, response: http.ServerResponse) => unknown

export async function listen(listener: Listener): Promise<Listening> {
  const server = http.createServer((request, response) => void listener(request, response))
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** A log that records the same events for the same calls. */
export function repeatableLog(): AuditLog {
  return new AuditLog({
    store: memoryStore({ clock: manualClock('2026-06-01T00:00:00Z') }),
    types: {},
    limits: { maxBytes: 2000 },
    random: (bytes) => {
      for (let i = 0; i < bytes.length; i++) bytes[i] = i >> 3
      return bytes
    },
  })
}

const users = { ann: 'ann', bob: 'bob' }

/** The options of both mounts: bob may only read. */
const authorize = (username: unknown, action: EventsAction): boolean =>
  action !== 'create' || username !== 'bob'

const forKoa = (audit: AuditLog, path?: string): readonly Koa.Middleware[] => [
  koa.basicAuth({ users }),
  koa.auditRoutes(audit, {
    ...(path !== undefined && { path }),
    authorize: (ctx: Koa.Context, action) => authorize(ctx.state['username'], action),
  }),
]

const routesForNode = (audit: AuditLog, path?: string): node.NodeListener =>
  node.auditRoutes(audit, {
    ...(path !== undefined && { path }),
    authorize: (request, action) => authorize(request.username, action),
  })

const forNode = (audit: AuditLog, path?: string): readonly node.NodeMiddleware[] => [
  node.basicAuth({ users }),
  routesForNode(audit, path),
]

function koaApp(...middlewares: readonly Koa.Middleware[]): Koa {
  const app = new Koa()
  for (const middleware of middlewares) app.use(middleware)
  return app
}

/** A host that serves a log's feed. */
export interface Host {
  /** The prefix of `/api/events`. */
  readonly prefix: string
  readonly listener: (audit: AuditLog) => Listener
}

const OUTER = '/outer'
const FEED_PATH = '/api/events'
const OUTER_PATH = '/outer/api/events'
const JSON_TYPES = ['application/json', 'application/vnd.api+json']

/** Registers the feed on Fastify, within the prefix. */
function fastifyListener(audit: AuditLog, prefix: string): Listener {
  const app = Fastify()
  const path = `${prefix}${FEED_PATH}`
  const options = {
    path,
    authorize: (request: fastify.FastifyRequest, action: EventsAction) =>
      authorize(request.username, action),
  }
  void app.register(fastify.basicAuth({ users }))
  void app.register(fastify.auditRoutes(audit, options), { prefix })
  return async (request, response) => {
    await app.ready()
    app.routing(request, response)
  }
}

/** @hono/node-server without its own classes `Request` and `Response`, which are global. */
const fetchListener = (handler: (request: Request, env: unknown) => unknown): Listener =>
  getRequestListener(handler, { overrideGlobalObjects: false })

function fetchHandler(audit: AuditLog): (request: Request, env: unknown) => Promise<Response> {
  const feed = fetchHandlers.auditRoutes(audit, {
    authorize: (request, action) => authorize(request.username, action),
  })
  return fetchHandlers.basicAuth({ users })(
    async (request: Request, env: unknown) =>
      (await feed(request, env)) ?? new Response('nothing is here', { status: 404 }),
  )
}

function honoApp(audit: AuditLog, path?: string, ...before: readonly MiddlewareHandler[]): Hono {
  const app = new Hono()
  for (const middleware of before) app.use(middleware)
  app.use(hono.basicAuth({ users }))
  return app.use(
    hono.auditRoutes(audit, {
      ...(path !== undefined && { path }),
      authorize: (context, action) => authorize(context.get('username'), action),
    }),
  )
}

/** All ways of mounting. */
export const hosts: Readonly<Record<string, Host>> = {
  Koa: {
    prefix: '',
    listener: (audit) => koaApp(...forKoa(audit)).callback(),
  },
  'Koa under a path': {
    prefix: OUTER,
    listener: (audit) =>
      koaApp(mount(OUTER, koaApp(mount('/api', koaApp(...forKoa(audit, OUTER_PATH)))))).callback(),
  },
  'Koa under a path of Express': {
    prefix: OUTER,
    listener: (audit) => express().use(OUTER, koaApp(...forKoa(audit, OUTER_PATH)).callback()),
  },
  'node:http': {
    prefix: '',
    listener: (audit) => {
      const authenticate = node.basicAuth({ users })
      const routes = routesForNode(audit)
      return (request, response) => authenticate(request, response, () => routes(request, response))
    },
  },
  Connect: {
    prefix: '',
    listener: (audit) => {
      const app = connect()
      for (const middleware of forNode(audit)) app.use(middleware)
      return app
    },
  },
  'Connect under a path': {
    prefix: OUTER,
    listener: (audit) => {
      const app = connect()
      for (const middleware of forNode(audit, OUTER_PATH)) app.use('/outer/api', middleware)
      return app
    },
  },
  Express: {
    prefix: '',
    listener: (audit) => express().use(...forNode(audit)),
  },
  'Express under a path': {
    prefix: OUTER,
    listener: (audit) =>
      express().use(OUTER, express.Router().use('/api', ...forNode(audit, OUTER_PATH))),
  },
  'Express behind express.json': {
    prefix: '',
    listener: (audit) => express().use(express.json({ type: JSON_TYPES }), ...forNode(audit)),
  },
  'Express behind express.raw': {
    prefix: '',
    listener: (audit) => express().use(express.raw({ type: () => true }), ...forNode(audit)),
  },
  Fastify: {
    prefix: '',
    listener: (audit) => fastifyListener(audit, ''),
  },
  'Fastify under a path': {
    prefix: OUTER,
    listener: (audit) => fastifyListener(audit, OUTER),
  },
  Fetch: {
    prefix: '',
    listener: (audit) => fetchListener(fetchHandler(audit)),
  },
  Hono: {
    prefix: '',
    listener: (audit) => fetchListener(honoApp(audit).fetch),
  },
  'Hono under a path': {
    prefix: OUTER,
    listener: (audit) => fetchListener(new Hono().route(OUTER, honoApp(audit, OUTER_PATH)).fetch),
  },
  'Hono behind a parser': {
    prefix: '',
    listener: (audit) => {
      const parse: MiddlewareHandler = async (context, next) => {
        if (context.req.method === 'POST') await context.req.text()
        await next()
      }
      return fetchListener(honoApp(audit, undefined, parse).fetch)
    },
  },
  'Express behind express.text': {
    prefix: '',
    listener: (audit) => express().use(express.text({ type: () => true }), ...forNode(audit)),
  },
}
