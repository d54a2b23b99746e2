import { markAsOwn } from '../../src/http/record/own-request.js'
import { viewsEndpoint, type ViewsEndpointOptions } from '../../src/http/views/endpoint.js'
import type { ViewedAudit } from '../../src/http/views/handlers.js'
import { toRequest, toResponse } from './exchange.js'
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
  return async function viewRoutes(context, next) {
    const request = toRequest(context, () => usernameOf(context, options))
    const response = endpoint(request)
    if (!response) return next()
    markAsOwn(context)
    return toResponse(context, request, await response)
  }
}
