import type { IncomingMessage, ServerResponse } from 'node:http'
import type { EventsEndpointOptions } from '../../src/http/events/endpoint.js'
import type { EndpointAudit } from '../../src/http/events/handler.js'

export interface AuditRoutesOptions extends EventsEndpointOptions<IncomingMessage> {
  /** The authenticated user of a request, null where there is none. */
  username(request: IncomingMessage): string | null
}

/** A request listener of `node:http`, and middleware of Express and Connect, that serves the event feed. */
export function auditRoutes(
  _audit: EndpointAudit,
  _options: AuditRoutesOptions,
): (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void) => void {
  throw new Error('not there yet')
}
