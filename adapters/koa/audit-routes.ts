import {
  DEFAULT_PATH,
  eventsEndpoint,
  type EventsEndpointOptions,
} from '../../src/http/events/endpoint.js'
import type { EndpointAudit } from '../../src/http/events/handler.js'
import { declareMount } from '../../src/http/mounts.js'
import { mountEndpoint, type UsernameOption, usernameOf } from './exchange.js'
import type { KoaContext, KoaMiddleware } from './koa.js'

export type AuditRoutesOptions = EventsEndpointOptions<KoaContext> & UsernameOption

/**
 * Koa middleware that serves the event feed: `GET` and `POST` at `path`, and the endpoints under it.
 * Requests to other paths are passed to the next middleware. Mount it after authentication. Requests to it
 * are not recorded.
 */
export function auditRoutes(audit: EndpointAudit, options: AuditRoutesOptions = {}): KoaMiddleware {
  const endpoint = eventsEndpoint(audit, options)
  declareMount(audit, { kind: 'feed', path: options.path ?? DEFAULT_PATH })
  return mountEndpoint(endpoint, (ctx) => usernameOf(ctx, options))
}
