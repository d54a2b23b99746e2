import {
  DEFAULT_PATH,
  eventsEndpoint,
  type EventsEndpointOptions,
} from '../../src/http/events/endpoint.js'
import type { EndpointAudit } from '../../src/http/events/handler.js'
import { declareMount } from '../../src/http/mounts.js'
import { mountEndpoint } from './exchange.js'
import { type HonoContext, type HonoMiddleware, type UsernameOption, usernameOf } from './hono.js'

export type AuditRoutesOptions = EventsEndpointOptions<HonoContext> & UsernameOption

/**
 * Hono middleware that serves the event feed: `GET` and `POST` at `path`, and the endpoints under it. Requests to
 * other paths are passed to the next middleware. Mount it after authentication. Requests to it are not recorded.
 *
 * Errors of the host's functions go to `onError`.
 */
export function auditRoutes(
  audit: EndpointAudit,
  options: AuditRoutesOptions = {},
): HonoMiddleware {
  const endpoint = eventsEndpoint(audit, options)
  declareMount(audit, { kind: 'feed', path: options.path ?? DEFAULT_PATH })
  return mountEndpoint(endpoint, (context) => usernameOf(context, options))
}
