import {
  DEFAULT_PATH,
  eventsEndpoint,
  type EventsEndpointOptions,
} from '../../src/http/events/endpoint.js'
import type { EndpointAudit } from '../../src/http/events/handler.js'
import type { Endpoint } from '../../src/http/exchange.js'
import {
  type HealthAudit,
  healthEndpoint,
  type HealthEndpointOptions,
} from '../../src/http/health.js'
import { listEndpoint, type ListEndpointOptions } from '../../src/http/list-endpoint.js'
import {
  DEFAULT_LOGS_PATH,
  type EndpointLogs,
  logsEndpoint,
  type LogsEndpointOptions,
} from '../../src/http/logs/endpoint.js'
import {
  type AuditPageOptions as PageOptions,
  DEFAULT_PAGE_PATH,
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
import type { HttpResponse } from '../../src/http/exchange.js'
import { answerOwn } from '../../src/http/record/own-request.js'
import { thrownError } from '../../src/http/thrown-error.js'
import { type UsernameOption, usernameOf } from '../../src/http/username-option.js'
import { endpointPlugin, sendAnswer, toRequest } from './exchange.js'
import {
  type FastifyHandler,
  type FastifyPlugin,
  type FastifyReply,
  type FastifyRequest,
  sharedPlugin,
} from './fastify.js'

type User = UsernameOption<FastifyRequest>

export type AuditHealthOptions = HealthEndpointOptions<FastifyRequest>
export type AuditPageOptions = PageOptions & User
export type AuditRoutesOptions = EventsEndpointOptions<FastifyRequest> & User
export type ListRouteOptions<Item extends object> = ListEndpointOptions<Item, FastifyRequest>
export type LogRoutesOptions = LogsEndpointOptions<FastifyRequest> & User
export type SubscriptionRoutesOptions = SubscriptionsEndpointOptions<FastifyRequest> & User
export type ViewRoutesOptions = ViewsEndpointOptions<FastifyRequest> & User

const mount = (
  endpoint: Endpoint<FastifyRequest>,
  paths: readonly string[],
  user: User,
): FastifyPlugin => endpointPlugin(endpoint, paths, (request) => usernameOf(request, user))

/**
 * Fastify plugin that answers probes, such as those of Kubernetes: `GET /health/live` with 200 as long as the process serves requests,
 * `GET /health/ready` with 503 while the log cannot record or be read, else with 200. It answers in the hook `onRequest`: register it on
 * the app itself, before authentication. Requests to it are not recorded.
 */
export function auditHealth(audit: HealthAudit, options: AuditHealthOptions = {}): FastifyPlugin {
  const endpoint = healthEndpoint(audit, options)
  const answer = async (
    request: FastifyRequest,
    reply: FastifyReply,
    done: (error?: Error) => void,
  ): Promise<void> => {
    let response: HttpResponse | undefined
    try {
      const answered = endpoint(toRequest(request, reply, () => null))
      response = answered && (await answerOwn(request, answered))
    } catch (error) {
      return done(thrownError(error))
    }
    if (!response) return done()
    return sendAnswer(request, reply, response)
  }
  return sharedPlugin('daybook-audit-health', (app) => {
    app.addHook('onRequest', (request, reply, done) => {
      void answer(request, reply, done)
    })
  })
}

/**
 * Fastify plugin that serves the audit page at `path`, from files of this package, with a strict content security policy. The page reads
 * the feed that {@link auditRoutes} serves for the same log, with the rights of its user. Register it after authentication.
 */
export function auditPage(audit: PageAudit, options: AuditPageOptions = {}): FastifyPlugin {
  const path = (options.path ?? DEFAULT_PAGE_PATH).replace(/\/+$/, '')
  return mount(pageEndpoint(audit, options), [path], options)
}

/**
 * Fastify plugin that serves the event feed: `GET` and `POST` at `path`, and the endpoints under it. With a prefix, `path` includes the
 * prefix. Register it after authentication. Requests to it are not recorded. Errors of the host's functions go to the error handler of
 * Fastify.
 */
export function auditRoutes(audit: EndpointAudit, options: AuditRoutesOptions = {}): FastifyPlugin {
  return mount(eventsEndpoint(audit, options), [options.path ?? DEFAULT_PATH], options)
}

/**
 * Fastify plugin that serves many logs: the endpoints of each log at `<path>/<key>/events`, those of several logs at `<path>/events`, and
 * the list of logs at `path`. As {@link auditRoutes} otherwise.
 */
export function logRoutes(logs: EndpointLogs, options: LogRoutesOptions = {}): FastifyPlugin {
  return mount(logsEndpoint(logs, options), [options.path ?? DEFAULT_LOGS_PATH], options)
}

/**
 * Fastify plugin by which users manage subscriptions and notification channels: `<path>/subscriptions` and
 * `<path>/notification_channels`. What users change is recorded as an event by the log. As {@link auditRoutes} otherwise.
 */
export function subscriptionRoutes(
  audit: ManagedAudit,
  options: SubscriptionRoutesOptions = {},
): FastifyPlugin {
  const endpoint = subscriptionsEndpoint(audit, options)
  return mount(endpoint, endpoint.paths, options)
}

/**
 * Fastify plugin by which users save named views of the audit page: `<path>` and everything under it. What users change is recorded as an
 * event by the log. As {@link auditRoutes} otherwise.
 */
export function viewRoutes(audit: ViewedAudit, options: ViewRoutesOptions = {}): FastifyPlugin {
  const endpoint = viewsEndpoint(audit, options)
  return mount(endpoint, endpoint.paths, options)
}

/**
 * A handler of Fastify that serves a list of the host's own resources as JSON:API and supports the feed's query language over `id` and
 * the declared attributes: `filter[<attribute>_<predicate>]`, `filter[sorts]`, `limit`. Use it in a route: `app.get('/api/projects',
 * listRoute({ … }))`. The response to an unknown attribute, or to a value that is not of the attribute's type, is 400. Without sorts the
 * list keeps the order of its source; a table is ordered by id. Every item that the SQL of a table does not exclude is tested; with
 * sorts, or without a limit, all matching items are read.
 *
 * See the interface, "List endpoints (general rules)".
 */
export function listRoute<Item extends object>(options: ListRouteOptions<Item>): FastifyHandler {
  const endpoint = listEndpoint(options)
  return async function listRoute(request, reply) {
    await sendAnswer(request, reply, await endpoint(toRequest(request, reply, () => null)))
    return reply
  }
}
