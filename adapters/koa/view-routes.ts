import { viewsEndpoint, type ViewsEndpointOptions } from '../../src/http/views/endpoint.js'
import type { ViewedAudit } from '../../src/http/views/handlers.js'
import { mountEndpoint, type UsernameOption, usernameOf } from './exchange.js'
import type { KoaContext, KoaMiddleware } from './koa.js'

export type ViewRoutesOptions = ViewsEndpointOptions<KoaContext> & UsernameOption

/**
 * Koa middleware by which users save named views of the audit page: `<path>` and everything under it. Requests to other paths are
 * passed to the next middleware. Mount it after authentication. What users change is recorded as an event by the log; the requests
 * are not recorded.
 */
export function viewRoutes(audit: ViewedAudit, options: ViewRoutesOptions = {}): KoaMiddleware {
  const endpoint = viewsEndpoint(audit, options)
  return mountEndpoint(endpoint, (ctx) => usernameOf(ctx, options))
}
