import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import connect from 'connect'
import { AuditLog } from 'daybook'
import * as fastify from 'daybook/fastify'
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
import { expressAfter, frameworks, type Listener, userOf } from './frameworks.js'

/** A server on a free port of the loopback address. */
export interface Listening {
  readonly url: string
  close(): Promise<void>
}

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

/** bob may only read. */
const authorize = (context: object, action: EventsAction): boolean =>
  action !== 'create' || userOf(context) !== 'bob'

const OUTER = '/outer'
const options = { path: '/outer/api/events', authorize }
const JSON_TYPES = ['application/json', 'application/vnd.api+json']

const koaApp = (...middlewares: readonly Koa.Middleware[]): Koa => {
  const app = new Koa()
  for (const middleware of middlewares) app.use(middleware)
  return app
}

const koaUnder = (audit: AuditLog): readonly Koa.Middleware[] => [
  koa.basicAuth({ users }),
  koa.auditRoutes(audit, options),
]

const nodeUnder = (audit: AuditLog): readonly node.NodeMiddleware[] => [
  node.basicAuth({ users }),
  node.auditRoutes(audit, options),
]

/** @hono/node-server without its own classes `Request` and `Response`, which are global. */
const fetchListener = (handler: (request: Request, env: unknown) => unknown): Listener =>
  getRequestListener(handler, { overrideGlobalObjects: false })

/** A host that serves a log's feed. */
export interface Host {
  /** The prefix of `/api/events`. */
  readonly prefix: string
  readonly listener: (audit: AuditLog) => Listener
}

/** Hosts that mount the feed under a path of theirs. */
const outerHosts: Readonly<Record<string, Host['listener']>> = {
  'Koa under a path': (audit) =>
    koaApp(mount(OUTER, koaApp(mount('/api', koaApp(...koaUnder(audit)))))).callback(),
  'Koa under a path of Express': (audit) =>
    express().use(OUTER, koaApp(...koaUnder(audit)).callback()),
  'Connect under a path': (audit) => {
    const app = connect()
    for (const middleware of nodeUnder(audit)) app.use('/outer/api', middleware)
    return app
  },
  'Express under a path': (audit) =>
    express().use(OUTER, express.Router().use('/api', ...nodeUnder(audit))),
  'Fastify under a path': (audit) => {
    const app = Fastify()
    void app.register(fastify.basicAuth({ users }))
    void app.register(fastify.auditRoutes(audit, options), { prefix: OUTER })
    return async (request, response) => {
      await app.ready()
      app.routing(request, response)
    }
  },
  'Hono under a path': (audit) => {
    const app = new Hono().use(hono.basicAuth({ users }), hono.auditRoutes(audit, options))
    return fetchListener(new Hono().route(OUTER, app).fetch)
  },
}

/** Hosts at the root of a server. */
const rootHosts: Readonly<Record<string, Host['listener']>> = {
  ...Object.fromEntries(
    Object.entries({
      ...frameworks,
      'Express behind express.json': expressAfter(express.json({ type: JSON_TYPES })),
      'Express behind express.raw': expressAfter(express.raw({ type: () => true })),
      'Express behind express.text': expressAfter(express.text({ type: () => true })),
    }).map(([name, framework]): [string, Host['listener']] => [
      name,
      (audit) =>
        framework({
          mounts: [
            ['basicAuth', { users }],
            ['auditRoutes', audit, { authorize }],
          ],
        }),
    ]),
  ),
  'Hono behind a parser': (audit) => {
    const parse: MiddlewareHandler = async (context, next) => {
      if (context.req.method === 'POST') await context.req.text()
      await next()
    }
    const feed = hono.auditRoutes(audit, { authorize })
    return fetchListener(new Hono().use(parse, hono.basicAuth({ users }), feed).fetch)
  },
}

const hostsAt = (prefix: string, listeners: Readonly<Record<string, Host['listener']>>) =>
  Object.entries(listeners).map(([name, listener]): [string, Host] => [name, { prefix, listener }])

/** All ways of mounting. */
export const hosts: Readonly<Record<string, Host>> = Object.fromEntries([
  ...hostsAt('', rootHosts),
  ...hostsAt(OUTER, outerHosts),
])
