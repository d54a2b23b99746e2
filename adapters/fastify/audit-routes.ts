import {
  DEFAULT_PATH,
  eventsEndpoint,
  type EventsEndpointOptions,
} from '../../src/http/events/endpoint.js'
import type { EndpointAudit } from '../../src/http/events/handler.js'
import { declareMount } from '../../src/http/mounts.js'
import { type UsernameOption, usernameOf } from '../../src/http/username-option.js'
import { endpointPlugin } from './exchange.js'
import type { FastifyPlugin, FastifyRequest } from './fastify.js'

export type AuditRoutesOptions = EventsEndpointOptions<FastifyRequest> &
  UsernameOption<FastifyRequest>

/**
 * Fastify plugin that serves the event feed: `GET` and `POST` at `path`, and the endpoints under it. Register
 * it after authentication. With a prefix, `path` includes the prefix. Requests to it are not recorded.
 *
 * Errors of the host's functions go to the error handler of Fastify.
 */
export function auditRoutes(audit: EndpointAudit, options: AuditRoutesOptions = {}): FastifyPlugin {
  const endpoint = eventsEndpoint(audit, options)
  const path = options.path ?? DEFAULT_PATH
  declareMount(audit, { kind: 'feed', path })
  return endpointPlugin(endpoint, [path], (request) => usernameOf(request, options))
}
