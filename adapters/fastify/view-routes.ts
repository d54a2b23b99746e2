import { viewsEndpoint, type ViewsEndpointOptions } from '../../src/http/views/endpoint.js'
import type { ViewedAudit } from '../../src/http/views/handlers.js'
import { type UsernameOption, usernameOf } from '../../src/http/username-option.js'
import { endpointPlugin } from './exchange.js'
import type { FastifyPlugin, FastifyRequest } from './fastify.js'

export type ViewRoutesOptions = ViewsEndpointOptions<FastifyRequest> &
  UsernameOption<FastifyRequest>

/**
 * Fastify plugin by which users save named views of the audit page: `<path>` and everything under it. Register it after
 * authentication. With a prefix, `path` includes the prefix. What users change is recorded as an event by the log; the requests are
 * not recorded.
 *
 * Errors of the host's functions go to the error handler of Fastify.
 */
export function viewRoutes(audit: ViewedAudit, options: ViewRoutesOptions = {}): FastifyPlugin {
  const endpoint = viewsEndpoint(audit, options)
  return endpointPlugin(endpoint, endpoint.paths, (request) => usernameOf(request, options))
}
