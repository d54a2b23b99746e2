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
import { mountEndpoint, rethrowInRealm, toRequest, toResponse } from './exchange.js'
import {
  type HonoContext,
  type HonoHandler,
  type HonoMiddleware,
  type UsernameOption,
  usernameOf,
} from './hono.js'

type User = UsernameOption

export type AuditHealthOptions = HealthEndpointOptions<HonoContext>
export type AuditPageOptions = PageOptions & User
export type AuditRoutesOptions = EventsEndpointOptions<HonoContext> & User
export type ListRouteOptions<Item extends object> = ListEndpointOptions<Item, HonoContext>
export type LogRoutesOptions = LogsEndpointOptions<HonoContext> & User
export type SubscriptionRoutesOptions = SubscriptionsEndpointOptions<HonoContext> & User
export type ViewRoutesOptions = ViewsEndpointOptions<HonoContext> & User

const mount = (endpoint: Endpoint<HonoContext>, user: User): HonoMiddleware =>
  mountEndpoint(endpoint, (context) => usernameOf(context, user))

/**
 * Hono middleware that answers probes, such as those of Kubernetes: `GET /health/live` with 200 as long as the process serves requests,
 * `GET /health/ready` with 503 while the log cannot record or be read, else with 200. Mount it before authentication. Requests to it are
 * not recorded.
 */
export function auditHealth(audit: HealthAudit, options: AuditHealthOptions = {}): HonoMiddleware {
  return mountEndpoint(healthEndpoint(audit, options), () => null)
}

/**
 * Hono middleware that serves the audit page at `path`, from files of this package, with a strict content security policy. The page reads
 * the feed that {@link auditRoutes} serves for the same log, with the rights of its user. Mount it after authentication.
 */
export function auditPage(audit: PageAudit, options: AuditPageOptions = {}): HonoMiddleware {
  return mount(pageEndpoint(audit, options), options)
}

/**
 * Hono middleware that serves the event feed: `GET` and `POST` at `path`, and the endpoints under it. Requests to other paths are passed
 * to the next middleware. Mount it after authentication. Requests to it are not recorded. Errors of the host's functions go to `onError`.
 */
export function auditRoutes(
  audit: EndpointAudit,
  options: AuditRoutesOptions = {},
): HonoMiddleware {
  return mount(eventsEndpoint(audit, options), options)
}

/**
 * Hono middleware that serves many logs: the endpoints of each log at `<path>/<key>/events`, those of several logs at `<path>/events`,
 * and the list of logs at `path`. As {@link auditRoutes} otherwise.
 */
export function logRoutes(logs: EndpointLogs, options: LogRoutesOptions = {}): HonoMiddleware {
  return mount(logsEndpoint(logs, options), options)
}

/**
 * Hono middleware by which users manage subscriptions and notification channels: `<path>/subscriptions` and
 * `<path>/notification_channels`. What users change is recorded as an event by the log. As {@link auditRoutes} otherwise.
 */
export function subscriptionRoutes(
  audit: ManagedAudit,
  options: SubscriptionRoutesOptions = {},
): HonoMiddleware {
  return mount(subscriptionsEndpoint(audit, options), options)
}

/**
 * Hono middleware by which users save named views of the audit page: `<path>` and everything under it. What users change is recorded as
 * an event by the log. As {@link auditRoutes} otherwise.
 */
export function viewRoutes(audit: ViewedAudit, options: ViewRoutesOptions = {}): HonoMiddleware {
  return mount(viewsEndpoint(audit, options), options)
}

/**
 * A handler of Hono that serves a list of the host's own resources as JSON:API and supports the feed's query language over `id` and the
 * declared attributes: `filter[<attribute>_<predicate>]`, `filter[sorts]`, `limit`. Use it in a route: `app.get('/api/projects',
 * listRoute({ … }))`. The response to an unknown attribute, or to a value that is not of the attribute's type, is 400. Without sorts the
 * list keeps the order of its source; a table is ordered by id. Every item that the SQL of a table does not exclude is tested; with
 * sorts, or without a limit, all matching items are read.
 *
 * See the interface, "List endpoints (general rules)".
 */
export function listRoute<Item extends object>(options: ListRouteOptions<Item>): HonoHandler {
  const endpoint = listEndpoint(options)
  return async function listRoute(context) {
    const request = toRequest(context, () => null)
    return toResponse(context, request, await endpoint(request).catch(rethrowInRealm))
  }
}
