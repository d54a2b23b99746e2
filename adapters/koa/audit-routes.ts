import {
  DEFAULT_PATH,
  type EndpointAudit,
  eventsEndpoint,
  type EventsEndpointOptions,
} from '../../src/http/events-endpoint.js'
import { sendResponse, stateUsername, toRequest } from './exchange.js'
import type { KoaContext, KoaMiddleware } from './koa.js'
import { declareFeed, markAsFeed } from './unrecorded.js'

export interface AuditRoutesOptions extends EventsEndpointOptions {
  /**
   * The authenticated user of a request, null where there is none: that is answered with 401.
   * @default `ctx.state.username`, as {@link basicAuth} sets it
   */
  username?(ctx: KoaContext): string | null
}

/**
 * Koa middleware that serves the event feed: `GET` and `POST` at `path`, `GET <path>/<id>`. Other
 * paths go on to the next middleware. Mount it behind authentication. No request to it is recorded.
 */
export function auditRoutes(audit: EndpointAudit, options: AuditRoutesOptions = {}): KoaMiddleware {
  const { username = stateUsername, ...endpointOptions } = options
  const endpoint = eventsEndpoint(audit, endpointOptions)
  declareFeed(audit, endpointOptions.path ?? DEFAULT_PATH)
  return async function auditRoutes(ctx, next) {
    const response = endpoint(toRequest(ctx, username(ctx)))
    if (!response) return next()
    markAsFeed(ctx)
    sendResponse(ctx, await response)
    return undefined
  }
}
