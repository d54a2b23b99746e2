import { listEndpoint, type ListEndpointOptions } from '../../src/http/list-endpoint.js'
import { rethrowInRealm, toRequest, toResponse } from './exchange.js'
import type { HonoContext, HonoHandler } from './hono.js'

export type ListRouteOptions<Item extends object> = ListEndpointOptions<Item, HonoContext>

/**
 * A handler of Hono that serves a list of the host's own resources, as `listRoute` of `daybook/koa` does:
 * `app.get('/api/projects', listRoute({ … }))`.
 *
 * See the interface, "List endpoints (general rules)".
 */
export function listRoute<Item extends object>(options: ListRouteOptions<Item>): HonoHandler {
  const endpoint = listEndpoint(options)
  return async function listRoute(context) {
    const request = toRequest(context, () => null)
    return toResponse(context, request, await endpoint(request).catch(rethrowInRealm))
  }
}
