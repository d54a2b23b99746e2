import { FetchHttpRequest, respond } from '../../src/http/fetch/exchange.js'
import { listEndpoint, type ListEndpointOptions } from '../../src/http/list-endpoint.js'
import type { FetchMount, FetchRequest } from './fetch.js'

export type ListRouteOptions<Item extends object> = ListEndpointOptions<Item, FetchRequest>

/**
 * Returns a fetch handler that serves a list of the host's own resources for `GET`, as `listRoute` of `daybook/koa`
 * does. It returns undefined for other methods, and does not look at the path.
 *
 * See the interface, "List endpoints (general rules)".
 */
export function listRoute<Item extends object>(options: ListRouteOptions<Item>): FetchMount {
  const endpoint = listEndpoint(options)
  return async function listRoute(request) {
    if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
    const received = new FetchHttpRequest<FetchRequest>({
      context: request,
      request,
      findUsername: () => null,
    })
    return respond(received, await endpoint(received))
  }
}
