import type { AuditLog, AuditLogs } from 'daybook'
import * as express from 'daybook/express'
import * as fastify from 'daybook/fastify'
import * as koa from 'daybook/koa'
import expressApp from 'express'
import Fastify from 'fastify'
import Koa from 'koa'
import mount from 'koa-mount'
import { expressAfter, frameworks, type Listener, userOf } from '../support/frameworks.js'
import type { RawResponse } from '../support/http.js'

/* The hosts, with every kind of endpoints by which users manage resources. */

export type Host<Log = AuditLog> = (log: Log) => Listener

const entries = { koa, express, fastify } as const

/** The functions of all entry points that mount the endpoints. */
export type Mounted = 'subscriptionRoutes' | 'viewRoutes'

const users = { ann: 'ann', bob: 'bob' }

/** bob may only read. */
const authorize = (context: object, action: string): 'all' | boolean =>
  userOf(context) === 'ann' ? 'all' : action.endsWith(':list')

const parser = expressApp.json({ type: 'application/vnd.api+json' })

/** Hosts that mount a log by the function of this name of their entry points. */
export const hostsOf = (
  mounted: Mounted | 'auditRoutes' | 'logRoutes',
  options: object = { authorize },
): Readonly<Record<string, Host<AuditLog | AuditLogs>>> =>
  Object.fromEntries(
    Object.entries({ ...frameworks, 'Express behind express.json': expressAfter(parser) }).map(
      ([name, framework]) => [
        name,
        (log: AuditLog | AuditLogs) =>
          framework({
            mounts: [
              ['basicAuth', { users }],
              [mounted, log, options],
            ],
          }),
      ],
    ),
  )

export const OUTER = '/outer'

/** Hosts that mount the endpoints under a prefix. The option `path` does not contain the prefix. */
export const outerHostsOf = (mounted: Mounted, path: string): Readonly<Record<string, Host>> => {
  const outer = { path: `${OUTER}${path}`, authorize }
  return {
    Koa: (audit) => {
      const inner = new Koa()
      inner.use(koa.basicAuth({ users }))
      inner.use(entries.koa[mounted](audit, outer))
      return new Koa().use(mount(OUTER, inner)).callback()
    },
    Express: (audit) =>
      expressApp().use(
        OUTER,
        expressApp
          .Router()
          .use('/api', express.basicAuth({ users }), entries.express[mounted](audit, outer)),
      ),
    Fastify: (audit) => {
      const app = Fastify()
      void app.register(fastify.basicAuth({ users }))
      void app.register(entries.fastify[mounted](audit, outer), { prefix: OUTER })
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
