import { viewsEndpoint, type ViewsEndpointOptions } from '../../src/http/views/endpoint.js'
import type { ViewedAudit } from '../../src/http/views/handlers.js'
import { mountEndpoint } from './exchange.js'
import { type HonoContext, type HonoMiddleware, type UsernameOption, usernameOf } from './hono.js'

export type ViewRoutesOptions = ViewsEndpointOptions<HonoContext> & UsernameOption

/**
 * Hono middleware by which users save named views of the audit page: `<path>` and everything under it. Requests to other paths are
 * passed to the next middleware. Mount it after authentication. What users change is recorded as an event by the log; the requests
 * are not recorded.
 *
 * Errors of the host's functions go to `onError`.
 */
export function viewRoutes(audit: ViewedAudit, options: ViewRoutesOptions = {}): HonoMiddleware {
  const endpoint = viewsEndpoint(audit, options)
  return mountEndpoint(endpoint, (context) => usernameOf(context, options))
}
