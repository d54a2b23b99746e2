import { eventsEndpoint, type EventsEndpointOptions } from '../events/endpoint.js'
import type { EndpointAudit } from '../events/handler.js'
import type { Endpoint } from '../exchange.js'
import { type HealthAudit, healthEndpoint, type HealthEndpointOptions } from '../health.js'
import { listEndpoint, type ListEndpointOptions } from '../list-endpoint.js'
import { type EndpointLogs, logsEndpoint, type LogsEndpointOptions } from '../logs/endpoint.js'
import { type AuditPageOptions as PageOptions, type PageAudit, pageEndpoint } from '../page/page.js'
import {
  subscriptionsEndpoint,
  type SubscriptionsEndpointOptions,
} from '../subscriptions/endpoint.js'
import type { ManagedAudit } from '../subscriptions/managed-audit.js'
import { viewsEndpoint, type ViewsEndpointOptions } from '../views/endpoint.js'
import type { ViewedAudit } from '../views/handlers.js'
import { type UsernameOption, usernameOf } from '../username-option.js'
import { mountEndpoint, respond, toRequest } from './exchange.js'
import type { NodeListener, NodeRequest } from './node.js'

type User = UsernameOption<NodeRequest>

export type AuditHealthOptions = HealthEndpointOptions<NodeRequest>
export type AuditPageOptions = PageOptions & User
export type AuditRoutesOptions = EventsEndpointOptions<NodeRequest> & User
export type ListRouteOptions<Item extends object> = ListEndpointOptions<Item, NodeRequest>
export type LogRoutesOptions = LogsEndpointOptions<NodeRequest> & User
export type SubscriptionRoutesOptions = SubscriptionsEndpointOptions<NodeRequest> & User
export type ViewRoutesOptions = ViewsEndpointOptions<NodeRequest> & User

const mount = (endpoint: Endpoint<NodeRequest>, user: User): NodeListener =>
  mountEndpoint(endpoint, (context) => usernameOf(context, user))

/**
 * A listener that answers probes, such as those of Kubernetes: `GET /health/live` with 200 as long as the process serves requests, `GET
 * /health/ready` with 503 while the log cannot record or be read, else with 200. Mount it before authentication. Requests to it are not
 * recorded.
 */
export function auditHealth(audit: HealthAudit, options: AuditHealthOptions = {}): NodeListener {
  return mountEndpoint(healthEndpoint(audit, options), () => null)
}

/**
 * A listener that serves the audit page at `path`, from files of this package, with a strict content security policy. The page reads the
 * feed that {@link auditRoutes} serves for the same log, with the rights of its user. Mount it after authentication, and before or after
 * body parsers.
 */
export function auditPage(audit: PageAudit, options: AuditPageOptions = {}): NodeListener {
  return mount(pageEndpoint(audit, options), options)
}

/**
 * A listener that serves the event feed: `GET` and `POST` at `path`, and the endpoints under it. It works as middleware of Express and
 * Connect under any mount path, and as a request listener of `node:http` that responds 404 to other paths. Mount it after authentication,
 * and before or after body parsers. Requests to it are not recorded. Errors of the host's functions are passed to `next`; without a
 * `next` that takes an error, the error becomes a process warning and the response is 500.
 */
export function auditRoutes(audit: EndpointAudit, options: AuditRoutesOptions = {}): NodeListener {
  return mount(eventsEndpoint(audit, options), options)
}

/**
 * A listener that serves many logs: the endpoints of each log at `<path>/<key>/events`, those of several logs at `<path>/events`, and the
 * list of logs at `path`. As {@link auditRoutes} otherwise.
 */
export function logRoutes(logs: EndpointLogs, options: LogRoutesOptions = {}): NodeListener {
  return mount(logsEndpoint(logs, options), options)
}

/**
 * A listener by which users manage subscriptions and notification channels: `<path>/subscriptions` and `<path>/notification_channels`.
 * A change by a user is recorded as an event by the log. As {@link auditRoutes} otherwise.
 */
export function subscriptionRoutes(
  audit: ManagedAudit,
  options: SubscriptionRoutesOptions = {},
): NodeListener {
  return mount(subscriptionsEndpoint(audit, options), options)
}

/**
 * A listener by which users save named views of the audit page: `<path>` and everything under it. What users change is recorded as an
 * event by the log. As {@link auditRoutes} otherwise.
 */
export function viewRoutes(audit: ViewedAudit, options: ViewRoutesOptions = {}): NodeListener {
  return mount(viewsEndpoint(audit, options), options)
}

/**
 * A listener that serves a list of the host's own resources as JSON:API and supports the feed's query language over `id` and the declared
 * attributes: `filter[<attribute>_<predicate>]`, `filter[sorts]`, `limit`. Use it in a route of Express or Connect:
 * `app.get('/api/projects', listRoute({ … }))`. Methods other than `GET` are passed to `next`. The response to an unknown attribute, or
 * to a value that is not of the attribute's type, is 400. Without sorts the list keeps the order of its source; a table is ordered by id.
 * Every item that the SQL of a table does not exclude is tested; with sorts, or without a limit, all matching items are read.
 *
 * See the interface, "List endpoints (general rules)".
 */
export function listRoute<Item extends object>(options: ListRouteOptions<Item>): NodeListener {
  const endpoint = listEndpoint(options)
  return function listRoute(request, response, next) {
    const exchange = { request, response, next }
    respond(exchange, () => {
      const isRead = request.method === 'GET' || request.method === 'HEAD'
      return isRead ? endpoint(toRequest(exchange, () => null)) : undefined
    })
  }
}
