import type { AuditLog } from 'daybook'
import * as express from 'daybook/express'
import * as fastify from 'daybook/fastify'
import * as fetchHandlers from 'daybook/fetch'
import * as hono from 'daybook/hono'
import * as koa from 'daybook/koa'
import * as node from 'daybook/node'
import expressApp from 'express'
import Fastify from 'fastify'
import Koa from 'koa'
import mount from 'koa-mount'
import {
  type EntryName,
  expressAfter,
  frameworks,
  type Listener,
  userOf,
} from '../support/frameworks.js'
import type { RawResponse } from '../support/http.js'

/* Every host of the endpoints by which users manage something. */

export type Host = (audit: AuditLog) => Listener

interface Options {
  readonly path?: string
  readonly authorize: (context: object, action: string) => 'all' | boolean
}

/** The function of each entry point that mounts the endpoints. */
export interface Mounted {
  readonly koa: (audit: AuditLog, options: Options) => koa.KoaMiddleware
  readonly node: (audit: AuditLog, options: Options) => node.NodeListener
  readonly express: (audit: AuditLog, options: Options) => express.NodeListener
  readonly fastify: (audit: AuditLog, options: Options) => fastify.FastifyPlugin
  readonly fetch: (audit: AuditLog, options: Options) => fetchHandlers.FetchMount
  readonly hono: (audit: AuditLog, options: Options) => hono.HonoMiddleware
}

const entries = { koa, node, express, fastify, fetch: fetchHandlers, hono } as const

/** The function of this name of each entry point. */
export const mountedAs = (name: 'subscriptionRoutes' | 'viewRoutes'): Mounted => ({
  koa: entries.koa[name],
  node: entries.node[name],
  express: entries.express[name],
  fastify: entries.fastify[name],
  fetch: entries.fetch[name],
  hono: entries.hono[name],
})

const users = { ann: 'ann', bob: 'bob' }

/** bob may only read. */
const authorize = (context: object, action: string): 'all' | boolean =>
  userOf(context) === 'ann' ? 'all' : action.endsWith(':list')

const parser = expressApp.json({ type: 'application/vnd.api+json' })

export const hostsOf = (mounted: Mounted): Readonly<Record<string, Host>> =>
  Object.fromEntries(
    Object.entries({ ...frameworks, 'Express behind express.json': expressAfter(parser) }).map(
      ([name, framework]) => {
        const host: Host = (audit) => {
          const routes = (entry: EntryName): unknown => mounted[entry](audit, { authorize })
          return framework({ mounts: [['basicAuth', { users }], routes] })
        }
        return [name, host]
      },
    ),
  )

export const OUTER = '/outer'

/** Hosts that mount the endpoints under a path of theirs; `path` is the option, without that path. */
export const outerHostsOf = (mounted: Mounted, path: string): Readonly<Record<string, Host>> => {
  const outer = { path: `${OUTER}${path}`, authorize }
  return {
    Koa: (audit) => {
      const inner = new Koa()
      inner.use(koa.basicAuth({ users }))
      inner.use(mounted.koa(audit, outer))
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
