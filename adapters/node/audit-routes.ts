import { eventsEndpoint, type EventsEndpointOptions } from '../../src/http/events/endpoint.js'
import type { EndpointAudit } from '../../src/http/events/handler.js'
import { respond, toRequest } from './exchange.js'
import type { NodeListener, NodeRequest } from './node.js'

export interface AuditRoutesOptions extends EventsEndpointOptions<NodeRequest> {
  /**
   * The authenticated user of a request, null where there is none.
   * @default `request.username`, as {@link basicAuth} sets it
   */
  username?(request: NodeRequest): string | null
}

const usernameOf = ({ username }: NodeRequest): string | null =>
  typeof username === 'string' ? username : null

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
  return function auditRoutes(request, response, next) {
    const exchange = { request, response, next }
    const username = (): string | null =>
      options.username ? options.username(request) : usernameOf(request)
    respond(exchange, () => endpoint(toRequest(exchange, username)))
  }
}
