import { getRequestListener } from '@hono/node-server'
import connect from 'connect'
import type { AuditLog } from 'daybook'
import * as express from 'daybook/express'
import * as fastify from 'daybook/fastify'
import * as fetchHandlers from 'daybook/fetch'
import * as hono from 'daybook/hono'
import * as koa from 'daybook/koa'
import * as node from 'daybook/node'
import expressApp from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import type http from 'node:http'
import Koa from 'koa'
import mount from 'koa-mount'
import type { RawResponse } from '../support/http.js'

/* Every host of the endpoints by which users manage something. */

export type Listener = (request: http.IncomingMessage, response: http.ServerResponse) => unknown

export type Host = (audit: AuditLog) => Listener

interface Options<Context> {
  readonly path?: string
  readonly authorize: (context: Context, action: string) => 'all' | boolean
}

/** The function of each entry point that mounts the endpoints. */
export interface Mounted {
  readonly koa: (audit: AuditLog, options: Options<koa.KoaContext>) => koa.KoaMiddleware
  readonly node: (audit: AuditLog, options: Options<node.NodeRequest>) => node.NodeListener
  readonly express: (audit: AuditLog, options: Options<express.NodeRequest>) => express.NodeListener
  readonly fastify: (
    audit: AuditLog,
    options: Options<fastify.FastifyRequest>,
  ) => fastify.FastifyPlugin
  readonly fetch: (
    audit: AuditLog,
    options: Options<fetchHandlers.FetchRequest>,
  ) => fetchHandlers.FetchMount
  readonly hono: (audit: AuditLog, options: Options<hono.HonoContext>) => hono.HonoMiddleware
}

export const subscriptionMounts: Mounted = {
  koa: koa.subscriptionRoutes,
  node: node.subscriptionRoutes,
  express: express.subscriptionRoutes,
  fastify: fastify.subscriptionRoutes,
  fetch: fetchHandlers.subscriptionRoutes,
  hono: hono.subscriptionRoutes,
}

export const viewMounts: Mounted = {
  koa: koa.viewRoutes,
  node: node.viewRoutes,
  express: express.viewRoutes,
  fastify: fastify.viewRoutes,
  fetch: fetchHandlers.viewRoutes,
  hono: hono.viewRoutes,
}

const users = { ann: 'ann', bob: 'bob' }

/** bob may only read. */
const mayDo = (username: unknown, action: string): 'all' | boolean =>
  username === 'ann' ? 'all' : action.endsWith(':list')

const byRequest = (
  request: { username?: string | null | undefined },
  action: string,
): 'all' | boolean => mayDo(request.username, action)

const byKoa = ({ state }: koa.KoaContext, action: string): 'all' | boolean =>
  mayDo(state['username'], action)

const notFound = (): Response => new Response('nothing is here', { status: 404 })

/** @hono/node-server without its own classes `Request` and `Response`, which are global. */
const fetchListener = (handler: (request: Request, env: unknown) => unknown): Listener =>
  getRequestListener(handler, { overrideGlobalObjects: false })

export const hostsOf = (mounted: Mounted): Readonly<Record<string, Host>> => ({
  Koa: (audit) => {
    const app = new Koa()
    app.use(koa.basicAuth({ users }))
    app.use(mounted.koa(audit, { authorize: byKoa }))
    return app.callback()
  },
  'node:http': (audit) => {
    const authenticate = node.basicAuth({ users })
    const routes = mounted.node(audit, { authorize: byRequest })
    return (request, response) => authenticate(request, response, () => routes(request, response))
  },
  Connect: (audit) =>
    connect()
      .use(node.basicAuth({ users }))
      .use(mounted.node(audit, { authorize: byRequest })),
  Express: (audit) =>
    expressApp().use(
      express.basicAuth({ users }),
      mounted.express(audit, { authorize: byRequest }),
    ),
  'Express behind express.json': (audit) =>
    expressApp().use(
      expressApp.json({ type: 'application/vnd.api+json' }),
      express.basicAuth({ users }),
      mounted.express(audit, { authorize: byRequest }),
    ),
  Fastify: (audit) => {
    const app = Fastify()
    void app.register(fastify.basicAuth({ users }))
    void app.register(mounted.fastify(audit, { authorize: byRequest }))
    return async (request, response) => {
      await app.ready()
      app.routing(request, response)
    }
  },
  Fetch: (audit) => {
    const routes = mounted.fetch(audit, { authorize: byRequest })
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
    const authorize = (context: hono.HonoContext, action: string) =>
      mayDo(context.get('username'), action)
    app.use(mounted.hono(audit, { authorize }))
    return fetchListener(app.fetch)
  },
})

export const OUTER = '/outer'

/** Hosts that mount the endpoints under a path of theirs; `path` is the option, without that path. */
export const outerHostsOf = (mounted: Mounted, path: string): Readonly<Record<string, Host>> => {
  const outer = { path: `${OUTER}${path}`, authorize: byRequest }
  return {
    Koa: (audit) => {
      const inner = new Koa()
      inner.use(koa.basicAuth({ users }))
      inner.use(mounted.koa(audit, { path: outer.path, authorize: byKoa }))
      return new Koa().use(mount(OUTER, inner)).callback()
    },
    Express: (audit) =>
      expressApp().use(
        OUTER,
        expressApp
          .Router()
          .use('/api', express.basicAuth({ users }), mounted.express(audit, outer)),
      ),
    Fastify: (audit) => {
      const app = Fastify()
      void app.register(fastify.basicAuth({ users }))
      void app.register(mounted.fastify(audit, outer), { prefix: OUTER })
      return async (request, response) => {
        await app.ready()
        app.routing(request, response)
      }
    },
  }
}

const UUID = /[-\da-f]{36}/g

/** The status, the headers and the body, without ids, times and headers of the server. */
export function comparable(
  { status, headers, body }: RawResponse,
  prefix: string,
  changing: RegExp,
): unknown {
  const { 'content-type': type, 'cache-control': caching, vary, allow, location } = headers
  const challenge = headers['www-authenticate']
  const bare = body
    .replaceAll(UUID, 'id')
    .replaceAll(`${prefix}/api/`, '/api/')
    .replaceAll(changing, '"$1":0')
  const place = location?.slice(prefix.length).replace(/[-\da-f]{36}$/, 'id')
  return { status, type, caching, vary, allow, challenge, location: place, body: bare }
}
