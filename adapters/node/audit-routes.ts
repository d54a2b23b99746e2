import {
  DEFAULT_PATH,
  eventsEndpoint,
  type EventsEndpointOptions,
} from '../../src/http/events/endpoint.js'
import type { EndpointAudit } from '../../src/http/events/handler.js'
import { declareMount } from '../../src/http/mounts.js'
import { respond, toRequest, type UsernameOption, usernameOf } from './exchange.js'
import type { NodeListener, NodeRequest } from './node.js'

export type AuditRoutesOptions = EventsEndpointOptions<NodeRequest> & UsernameOption

/**
 * Serves the event feed: `GET` and `POST` at `path`, and what lies under it. Middleware of Express and
 * Connect, under whatever mount path; and a request listener of `node:http`, which answers other paths
 * with 404. Mount it behind authentication, and in front of body parsers or behind them.
 *
 * What the host's functions throw goes to `next`. Without one that takes an error it becomes a process
 * warning, and the answer is 500.
 */
export function auditRoutes(audit: EndpointAudit, options: AuditRoutesOptions = {}): NodeListener {
  const endpoint = eventsEndpoint(audit, options)
  declareMount(audit, { kind: 'feed', path: options.path ?? DEFAULT_PATH })
  return function auditRoutes(request, response, next) {
    const exchange = { request, response, next }
    respond(exchange, () => endpoint(toRequest(exchange, () => usernameOf(request, options))))
  }
}
