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
import { FetchHttpRequest, respond } from '../../src/http/fetch/exchange.js'
import { answerOwn } from '../../src/http/record/own-request.js'
import { type UsernameOption, usernameOf } from '../../src/http/username-option.js'
import type { FetchMount, FetchRequest } from './fetch.js'

type User = UsernameOption<FetchRequest>

export type AuditHealthOptions = HealthEndpointOptions<FetchRequest>
export type AuditPageOptions = PageOptions & User
export type AuditRoutesOptions = EventsEndpointOptions<FetchRequest> & User
export type ListRouteOptions<Item extends object> = ListEndpointOptions<Item, FetchRequest>
export type LogRoutesOptions = LogsEndpointOptions<FetchRequest> & User
export type SubscriptionRoutesOptions = SubscriptionsEndpointOptions<FetchRequest> & User
export type ViewRoutesOptions = ViewsEndpointOptions<FetchRequest> & User

/** A handler that serves an endpoint, and returns undefined for other requests. Requests to the endpoint are not recorded. */
function mountEndpoint(
  endpoint: Endpoint<FetchRequest>,
  findUsername: (request: FetchRequest) => string | null,
): FetchMount {
  return async function mountedEndpoint(request) {
    const received = new FetchHttpRequest<FetchRequest>({
      context: request,
      request,
      findUsername: () => findUsername(request),
    })
    const response = endpoint(received)
    if (!response) return undefined
    return respond(received, await answerOwn(request, response))
  }
}

const mount = (endpoint: Endpoint<FetchRequest>, user: User): FetchMount =>
  mountEndpoint(endpoint, (context) => usernameOf(context, user))

/**
 * A fetch handler that answers probes, such as those of Kubernetes: `GET /health/live` with 200 as long as the process serves requests,
 * `GET /health/ready` with 503 while the log cannot record or be read, else with 200. Call it before authentication. Requests to it are
 * not recorded.
 */
export function auditHealth(audit: HealthAudit, options: AuditHealthOptions = {}): FetchMount {
  return mountEndpoint(healthEndpoint(audit, options), () => null)
}

/**
 * A fetch handler that serves the audit page at `path`, from files of this package, with a strict content security policy. The page reads
 * the feed that {@link auditRoutes} serves for the same log, with the rights of its user. Call it after authentication.
 */
export function auditPage(audit: PageAudit, options: AuditPageOptions = {}): FetchMount {
  return mount(pageEndpoint(audit, options), options)
}

/**
 * A fetch handler that serves the event feed: `GET` and `POST` at `path`, and the endpoints under it. It returns undefined for other
 * paths. Call it after authentication. Requests to it are not recorded. It rejects with the errors of the host's functions.
 */
export function auditRoutes(audit: EndpointAudit, options: AuditRoutesOptions = {}): FetchMount {
  return mount(eventsEndpoint(audit, options), options)
}

/**
 * A fetch handler that serves many logs: the endpoints of each log at `<path>/<key>/events`, those of several logs at `<path>/events`,
 * and the list of logs at `path`. As {@link auditRoutes} otherwise.
 */
export function logRoutes(logs: EndpointLogs, options: LogRoutesOptions = {}): FetchMount {
  return mount(logsEndpoint(logs, options), options)
}

/**
 * A fetch handler by which users manage subscriptions and notification channels: `<path>/subscriptions` and
 * `<path>/notification_channels`. What users change is recorded as an event by the log. As {@link auditRoutes} otherwise.
 */
export function subscriptionRoutes(
  audit: ManagedAudit,
  options: SubscriptionRoutesOptions = {},
): FetchMount {
  return mount(subscriptionsEndpoint(audit, options), options)
}

/**
 * A fetch handler by which users save named views of the audit page: `<path>` and everything under it. What users change is recorded as
 * an event by the log. As {@link auditRoutes} otherwise.
 */
export function viewRoutes(audit: ViewedAudit, options: ViewRoutesOptions = {}): FetchMount {
  return mount(viewsEndpoint(audit, options), options)
}

/**
 * A fetch handler that serves a list of the host's own resources as JSON:API and supports the feed's query language over `id` and the
 * declared attributes: `filter[<attribute>_<predicate>]`, `filter[sorts]`, `limit`. It returns undefined for methods other than `GET`,
 * and does not look at the path. The response to an unknown attribute, or to a value that is not of the attribute's type, is 400. Without
 * sorts the list keeps the order of its source; a table is ordered by id. Every item that the SQL of a table does not exclude is tested;
 * with sorts, or without a limit, all matching items are read.
 *
 * See the interface, "List endpoints (general rules)".
 */
export function listRoute<Item extends object>(options: ListRouteOptions<Item>): FetchMount {
  const endpoint = listEndpoint(options)
  return async function listRoute(request) {
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
    const received = new FetchHttpRequest<FetchRequest>({
      context: request,
      request,
      findUsername: () => null,
    })
    return respond(received, await endpoint(received))
  }
}
