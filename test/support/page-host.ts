import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  AuditLog,
  type AuditEvent,
  type EventStore,
  type EventTypeDefinition,
  type LedgerOptions,
  type PrivacyOptions,
  type SubscriptionsOptions,
} from 'daybook'
import {
  auditPage,
  type AuditPageOptions,
  auditRoutes,
  type AuditRoutesOptions,
  basicAuth,
  subscriptionRoutes,
  type SubscriptionRoutesOptions,
  viewRoutes,
  type ViewRoutesOptions,
} from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import { workflowEventTypes, workflowLinks } from 'daybook/workflow'
import Koa, { type Middleware } from 'koa'
import { countExactly } from './exact-counts.js'
import { dayOfEvents, FETCH_LOG } from './story.js'

/** The types of the catalog, which a test may define in another way. */
type PageTypes = Readonly<Record<keyof typeof workflowEventTypes, EventTypeDefinition>>

export interface PageHostOptions {
  readonly store?: EventStore
  /** Events imported before the server listens. */
  readonly events?: readonly AuditEvent[]
  readonly page?: AuditPageOptions
  readonly feed?: AuditRoutesOptions
  readonly subscriptions?: SubscriptionsOptions
  readonly ledger?: LedgerOptions
  /** @default the workflow catalog */
  readonly types?: PageTypes
  readonly privacy?: PrivacyOptions
  /** Endpoints for managing subscriptions; by default, users cannot manage any. */
  readonly management?: SubscriptionRoutesOptions
  /** Endpoints for views; by default, users cannot save any. */
  readonly views?: ViewRoutesOptions
  /** Middleware before feed and page, after authentication. */
  readonly inside?: readonly Middleware[]
}

export interface PageHost {
  readonly audit: AuditLog<PageTypes, typeof workflowLinks>
  readonly url: string
  /** The page's address. */
  readonly page: string
  close(): Promise<void>
}

/** Time limit of a query. The page shows an error after it, so it is long enough for a busy machine. */
export const QUERY_TIMEOUT_MS = 60_000

/** The port of the last host of the worker. The browser has the files of its page, compiled. */
let lastPort = 0

/** Listens on the port, or on another port if it is taken. */
async function listen(app: Koa, port: number): Promise<Server> {
  const server = app.listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return server
  } catch (error) {
    if (port === 0) throw error
    return listen(app, 0)
  }
}

/** A service with feed and page; users are `ann`, `bob` and `eve`. */
export async function servePage(options: PageHostOptions = {}): Promise<PageHost> {
  const { store = memoryStore({ queryTimeoutMs: QUERY_TIMEOUT_MS }), events = [] } = options
  const { page, feed, inside = [] } = options
  const { subscriptions, ledger, privacy, management, views, types = workflowEventTypes } = options
  const audit = new AuditLog({
    store,
    types,
    links: workflowLinks,
    ...(subscriptions && { subscriptions }),
    ...(ledger && { ledger }),
    ...(privacy && { privacy }),
  })
  // If counting takes more than two seconds, the page shows estimates and no number of rows.
  countExactly(audit)
  if (events.length > 0) await audit.importEvents(events)
  const app = new Koa()
  app.silent = true
  app.use(basicAuth({ users: { ann: 'ann', bob: 'bob', eve: 'eve' } }))
  for (const middleware of inside) app.use(middleware)
  app.use(auditRoutes(audit, feed))
  if (management) app.use(subscriptionRoutes(audit, management))
  if (views) app.use(viewRoutes(audit, views))
  app.use(auditPage(audit, { name: 'acme workflows', ...page }))
  const server = await listen(app, lastPort)
  lastPort = (server.address() as AddressInfo).port
  const url = `http://127.0.0.1:${lastPort}`
  return {
    audit,
    url,
    page: `${url}/audit`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await audit.close()
    },
  }
}

/** The same service with the day of the story until now and a running fetch. */
export async function serveStory(options: PageHostOptions = {}): Promise<PageHost> {
  const host = await servePage({ events: dayOfEvents(Date.now() * 1000 - 2_000_000), ...options })
  const live = await host.audit.recordLive('info:template_version:fetch', {
    name: 'storefront-config@main',
    template_version_id: '0199f1a6-02cc-7d14-9a55-8e0b6c3d7f21',
    progress: '',
  })
  await live.append('progress', FETCH_LOG)
  await live.flush()
  return host
}
