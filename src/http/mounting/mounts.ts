import { DEFAULT_PATH, eventsEndpoint, type EventsEndpointOptions } from '../events/endpoint.js'
import type { EndpointAudit } from '../events/handler.js'
import type { Endpoint, HttpRequest, HttpResponse } from '../exchange.js'
import { type HealthAudit, healthEndpoint, type HealthEndpointOptions } from '../health.js'
import { listEndpoint, type ListEndpointOptions } from '../list-endpoint.js'
import {
  DEFAULT_LOGS_PATH,
  type EndpointLogs,
  logsEndpoint,
  type LogsEndpointOptions,
} from '../logs/endpoint.js'
import {
  type AuditPageOptions as PageOptions,
  DEFAULT_PAGE_PATH,
  type PageAudit,
  pageEndpoint,
} from '../page/page.js'
import { answerOwn } from '../record/own-request.js'
import {
  subscriptionsEndpoint,
  type SubscriptionsEndpointOptions,
} from '../subscriptions/endpoint.js'
import type { ManagedAudit } from '../subscriptions/managed-audit.js'
import { type FoundUser, type UsernameOption, usernameOf } from '../username-option.js'
import { viewsEndpoint, type ViewsEndpointOptions } from '../views/endpoint.js'
import type { ViewedAudit } from '../views/handlers.js'

/*
 * The functions by which every framework mounts the endpoints of a log. `Context` is the request of the framework, `Mounted` is
 * its middleware, plugin or handler. An adapter gives a host, and exports what these functions return for it.
 */

/** The functions in which a framework differs. */
export interface MountHost<Context extends object, Mounted> {
  /** Serves an endpoint, and passes on the requests that it does not handle. It handles `paths`, with everything under them. */
  mount(endpoint: Endpoint<Context>, findUsername: FindUsername<Context>, paths: Paths): Mounted
  /** @default `request.username` */
  readonly username?: FoundUser<Context>
  /**
   * The object that stands for a request, in all apps through which it passes.
   * @default the context
   */
  readonly keyOf?: (context: Context) => object
}

export type FindUsername<Context> = (context: Context) => string | null

export type Paths = readonly string[]

export type AuditHealthOptions<Context> = HealthEndpointOptions<Context>
export type AuditPageOptions<Context> = PageOptions & UsernameOption<Context>
export type AuditRoutesOptions<Context> = EventsEndpointOptions<Context> & UsernameOption<Context>
export type ListRouteOptions<Item extends object, Context> = ListEndpointOptions<Item, Context>
export type LogRoutesOptions<Context> = LogsEndpointOptions<Context> & UsernameOption<Context>
export type SubscriptionRoutesOptions<Context> = SubscriptionsEndpointOptions<Context> &
  UsernameOption<Context>
export type ViewRoutesOptions<Context> = ViewsEndpointOptions<Context> & UsernameOption<Context>

export const noUser = (): null => null

/** The endpoint. Its requests are recorded only if it refuses access. */
const own =
  <Context extends object>(
    { keyOf = (context) => context }: MountHost<Context, unknown>,
    endpoint: Endpoint<Context>,
  ): Endpoint<Context> =>
  (request) => {
    const answer = endpoint(request)
    return answer && answerOwn(keyOf(request.context), answer)
  }

const mount = <Context extends object, Mounted>(
  host: MountHost<Context, Mounted>,
  endpoint: Endpoint<Context>,
  options: UsernameOption<Context>,
  paths: Paths,
): Mounted =>
  host.mount(own(host, endpoint), (context) => usernameOf(context, options, host.username), paths)

export interface MountHealth<Context, Mounted> {
  /**
   * Answers probes, such as those of Kubernetes: `GET /health/live` with 200 as long as the process serves requests, `GET /health/ready`
   * with 503 while the log cannot record or be read, else with 200. Mount it before authentication. Requests to it are not recorded.
   */
  (audit: HealthAudit, options?: AuditHealthOptions<Context>): Mounted
}

export const auditHealth =
  <Context extends object, Mounted>(
    host: MountHost<Context, Mounted>,
  ): MountHealth<Context, Mounted> =>
  (audit, options = {}) =>
    host.mount(own(host, healthEndpoint(audit, options)), noUser, [])

export interface MountPage<Context, Mounted> {
  /**
   * Serves the audit page at `path`, from files of this package, with a strict content security policy. The page reads the feed that
   * `auditRoutes` serves for the same log, with the rights of its user. Mount it after authentication.
   */
  (audit: PageAudit, options?: AuditPageOptions<Context>): Mounted
}

export const auditPage =
  <Context extends object, Mounted>(
    host: MountHost<Context, Mounted>,
  ): MountPage<Context, Mounted> =>
  (audit, options = {}) => {
    const endpoint = pageEndpoint(audit, options)
    const { path = DEFAULT_PAGE_PATH } = options
    return mount(host, endpoint, options, [path.replace(/\/+$/, '')])
  }

export interface MountRoutes<Context, Mounted> {
  /**
   * Serves the event feed: `GET` and `POST` at `path`, and the endpoints under it. Requests to other paths are passed on to the next
   * handler: a fetch handler returns undefined for them, and a listener of `node:http` without a `next` responds 404. Mount it after
   * authentication, and before or after body parsers. Requests to it are not recorded. Errors of the host's functions go to the error
   * handling of the framework; in a listener without a `next` that takes an error, the error becomes a process warning and the response
   * is 500.
   */
  (audit: EndpointAudit, options?: AuditRoutesOptions<Context>): Mounted
}

export const auditRoutes =
  <Context extends object, Mounted>(
    host: MountHost<Context, Mounted>,
  ): MountRoutes<Context, Mounted> =>
  (audit, options = {}) =>
    mount(host, eventsEndpoint(audit, options), options, [options.path ?? DEFAULT_PATH])

export interface MountLogs<Context, Mounted> {
  /**
   * Serves many logs: the endpoints of each log at `<path>/<key>/events`, those of several logs at `<path>/events`, and the list of
   * logs at `path`. As `auditRoutes` otherwise.
   */
  (logs: EndpointLogs, options?: LogRoutesOptions<Context>): Mounted
}

export const logRoutes =
  <Context extends object, Mounted>(
    host: MountHost<Context, Mounted>,
  ): MountLogs<Context, Mounted> =>
  (logs, options = {}) =>
    mount(host, logsEndpoint(logs, options), options, [options.path ?? DEFAULT_LOGS_PATH])

export interface MountSubscriptions<Context, Mounted> {
  /**
   * Lets users manage subscriptions and notification channels: `<path>/subscriptions` and `<path>/notification_channels`. A change by a
   * user is recorded as an event by the log. As `auditRoutes` otherwise.
   */
  (audit: ManagedAudit, options?: SubscriptionRoutesOptions<Context>): Mounted
}

export const subscriptionRoutes =
  <Context extends object, Mounted>(
    host: MountHost<Context, Mounted>,
  ): MountSubscriptions<Context, Mounted> =>
  (audit, options = {}) => {
    const endpoint = subscriptionsEndpoint(audit, options)
    return mount(host, endpoint, options, endpoint.paths)
  }

export interface MountViews<Context, Mounted> {
  /**
   * Lets users save named views of the audit page: `<path>` and everything under it. A change by a user is recorded as an event by the
   * log. As `auditRoutes` otherwise.
   */
  (audit: ViewedAudit, options?: ViewRoutesOptions<Context>): Mounted
}

export const viewRoutes =
  <Context extends object, Mounted>(
    host: MountHost<Context, Mounted>,
  ): MountViews<Context, Mounted> =>
  (audit, options = {}) => {
    const endpoint = viewsEndpoint(audit, options)
    return mount(host, endpoint, options, endpoint.paths)
  }

export interface MountList<Context, Mounted> {
  /**
   * Serves a list of the host's own resources as JSON:API and supports the feed's query language over `id` and the declared attributes:
   * `filter[<attribute>_<predicate>]`, `filter[sorts]`, `limit`. Use it in a route: `app.get('/api/projects', listRoute({ … }))`. It does
   * not look at the path. Middleware and fetch handlers pass on methods other than `GET`. The response to an unknown attribute, or to a
   * value that is not of the attribute's type, is 400. Without sorts the list keeps the order of its source; a table is ordered by id.
   * Every item that the SQL of a table does not exclude is tested; with sorts, or without a limit, all matching items are read.
   *
   * See the interface, "List endpoints (general rules)".
   */
  <Item extends object>(options: ListRouteOptions<Item, Context>): Mounted
}

/** Responds to the requests of a route. */
export type Respond<Context> = (request: HttpRequest<Context>) => Promise<HttpResponse>

/** `list` makes a handler of the framework, for a route. */
export const listRoute =
  <Context, Mounted>(list: (respond: Respond<Context>) => Mounted): MountList<Context, Mounted> =>
  (options) =>
    list(listEndpoint(options))

/** An endpoint for middleware, which passes on methods other than `GET`. */
export const ofReads =
  <Context>(respond: Respond<Context>): Endpoint<Context> =>
  (request) =>
    request.method === 'GET' || request.method === 'HEAD' ? respond(request) : undefined
