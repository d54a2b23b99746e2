import { listEndpoint, type ListEndpointOptions } from '../list-endpoint.js'
import { respond, toRequest } from './exchange.js'
import type { NodeListener, NodeRequest } from './node.js'

export type ListRouteOptions<Item extends object> = ListEndpointOptions<Item, NodeRequest>

/**
 * Serves a list of the host's own resources for `GET`, as `listRoute` of `daybook/koa` does, in a route of
 * Express or Connect: `app.get('/api/projects', listRoute({ … }))`. Other methods are passed to `next`.
 *
 * See the interface, "List endpoints (general rules)".
 */
export function listRoute<Item extends object>(options: ListRouteOptions<Item>): NodeListener {
  const endpoint = listEndpoint(options)
  return function listRoute(request, response, next) {
    const exchange = { request, response, next }
    respond(exchange, () => {
      const isRead = request.method === 'GET' || request.method === 'HEAD'
      return isRead ? endpoint(toRequest(exchange, () => null)) : undefined
    })
  }
}
