import { DEFAULT_PATH, eventsEndpoint, type EventsEndpointOptions } from '../events/endpoint.js'
import type { EndpointAudit } from '../events/handler.js'
import { declareMount } from '../mounts.js'
import { type UsernameOption, usernameOf } from '../username-option.js'
import { mountEndpoint } from './exchange.js'
import type { NodeListener, NodeRequest } from './node.js'

export type AuditRoutesOptions = EventsEndpointOptions<NodeRequest> & UsernameOption<NodeRequest>

/**
 * Serves the event feed: `GET` and `POST` at `path`, and the endpoints under it. Works as middleware of
 * Express and Connect under any mount path, and as a request listener of `node:http` that responds 404 to
 * other paths. Mount it after authentication, and before or after body parsers.
 *
 * Errors of the host's functions are passed to `next`. Without a `next` that takes an error, the error
 * becomes a process warning and the response is 500.
 */
export function auditRoutes(audit: EndpointAudit, options: AuditRoutesOptions = {}): NodeListener {
  const endpoint = eventsEndpoint(audit, options)
  declareMount(audit, { kind: 'feed', path: options.path ?? DEFAULT_PATH })
  return mountEndpoint(endpoint, (request) => usernameOf(request, options))
}
