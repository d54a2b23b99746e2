import { eventsEndpoint, type EventsEndpointOptions } from '../../src/http/events/endpoint.js'
import type { EndpointAudit } from '../../src/http/events/handler.js'
import type { Endpoint } from '../../src/http/exchange.js'
import {
  type HealthAudit,
  healthEndpoint,
  type HealthEndpointOptions,
} from '../../src/http/health.js'
import { listEndpoint, type ListEndpointOptions } from '../../src/http/list-endpoint.js'
import {
  type EndpointLogs,
  logsEndpoint,
  type LogsEndpointOptions,
} from '../../src/http/logs/endpoint.js'
import {
  type AuditPageOptions as PageOptions,
  type PageAudit,
  pageEndpoint,
} from '../../src/http/page/page.js'
import {
  subscriptionsEndpoint,
  type SubscriptionsEndpointOptions,
} from '../../src/http/subscriptions/endpoint.js'
import type { ManagedAudit } from '../../src/http/subscriptions/managed-audit.js'
import { viewsEndpoint, type ViewsEndpointOptions } from '../../src/http/views/endpoint.js'
import type { ViewedAudit } from '../../src/http/views/handlers.js'
import {
  mountEndpoint,
  sendResponse,
  toRequest,
  type UsernameOption,
  usernameOf,
} from './exchange.js'
import type { KoaContext, KoaMiddleware, RoutedContext } from './koa.js'

type User = UsernameOption

export type AuditHealthOptions = HealthEndpointOptions<KoaContext>
export type AuditPageOptions = PageOptions & User
export type AuditRoutesOptions = EventsEndpointOptions<KoaContext> & User
export type ListRouteOptions<Item extends object> = ListEndpointOptions<Item, RoutedContext>
export type LogRoutesOptions = LogsEndpointOptions<KoaContext> & User
export type SubscriptionRoutesOptions = SubscriptionsEndpointOptions<KoaContext> & User
export type ViewRoutesOptions = ViewsEndpointOptions<KoaContext> & User

const mount = (endpoint: Endpoint<KoaContext>, user: User): KoaMiddleware =>
  mountEndpoint(endpoint, (context) => usernameOf(context, user))

/**
 * Koa middleware that answers probes, such as those of Kubernetes: `GET /health/live` with 200 as long as the process serves requests,
 * `GET /health/ready` with 503 while the log cannot record or be read, else with 200. Mount it before authentication. Requests to it are
 * not recorded.
 */
export function auditHealth(audit: HealthAudit, options: AuditHealthOptions = {}): KoaMiddleware {
  return mountEndpoint(healthEndpoint(audit, options), () => null)
}

/**
 * Koa middleware that serves the audit page at `path`, from files of this package, with a strict content security policy. The page reads
 * the feed that {@link auditRoutes} serves for the same log, with the rights of its user. Mount it after authentication.
 */
export function auditPage(audit: PageAudit, options: AuditPageOptions = {}): KoaMiddleware {
  return mount(pageEndpoint(audit, options), options)
}

/**
 * Koa middleware that serves the event feed: `GET` and `POST` at `path`, and the endpoints under it. Requests to other paths are passed
 * to the next middleware. Mount it after authentication. Requests to it are not recorded. Errors of the host's functions are passed to
 * Koa.
 */
export function auditRoutes(audit: EndpointAudit, options: AuditRoutesOptions = {}): KoaMiddleware {
  return mount(eventsEndpoint(audit, options), options)
}

/**
 * Koa middleware that serves many logs: the endpoints of each log at `<path>/<key>/events`, those of several logs at `<path>/events`, and
 * the list of logs at `path`. As {@link auditRoutes} otherwise.
 */
export function logRoutes(logs: EndpointLogs, options: LogRoutesOptions = {}): KoaMiddleware {
  return mount(logsEndpoint(logs, options), options)
}

/**
 * Koa middleware by which users manage subscriptions and notification channels: `<path>/subscriptions` and
 * `<path>/notification_channels`. What users change is recorded as an event by the log. As {@link auditRoutes} otherwise.
 */
export function subscriptionRoutes(
  audit: ManagedAudit,
  options: SubscriptionRoutesOptions = {},
): KoaMiddleware {
  return mount(subscriptionsEndpoint(audit, options), options)
}

/**
 * Koa middleware by which users save named views of the audit page: `<path>` and everything under it. What users change is recorded as an
 * event by the log. As {@link auditRoutes} otherwise.
 */
export function viewRoutes(audit: ViewedAudit, options: ViewRoutesOptions = {}): KoaMiddleware {
  return mount(viewsEndpoint(audit, options), options)
}

/**
 * Koa middleware for a `GET` route that serves a list of the host's own resources as JSON:API and supports the feed's query language over
 * `id` and the declared attributes: `filter[<attribute>_<predicate>]`, `filter[sorts]`, `limit`. The response to an unknown attribute, or
 * to a value that is not of the attribute's type, is 400. Without sorts the list keeps the order of its source; a table is ordered by id.
 * Every item that the SQL of a table does not exclude is tested; with sorts, or without a limit, all matching items are read.
 *
 * See the interface, "List endpoints (general rules)".
 */
export function listRoute<Item extends object>(options: ListRouteOptions<Item>): KoaMiddleware {
  const endpoint = listEndpoint(options)
  return async function listRoute(ctx, next) {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next()
    sendResponse(ctx, await endpoint(toRequest(ctx, () => null)))
    return undefined
  }
}
