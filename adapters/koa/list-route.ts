import { listEndpoint, type ListEndpointOptions } from '../../src/http/list-endpoint.js'
import { sendResponse, toRequest } from './exchange.js'
import type { KoaMiddleware, RoutedContext } from './koa.js'

export type ListRouteOptions<Item extends object> = ListEndpointOptions<Item, RoutedContext>

/**
 * Koa middleware for a `GET` route that serves a list of the host's own resources as JSON:API
 * and supports the event feed's query language over `id` and the declared attributes:
 * `filter[<attribute>_<predicate>]`, `filter[sorts]`, `limit`. The response to an unknown attribute, or to a
 * value that is not of the attribute's type, is 400. Without sorts the list keeps the order of its source;
 * a table is ordered by id. Every item that the SQL of a table does not exclude is tested; with sorts, or
 * without a limit, all matching items are read.
 *
 * See the interface, "List endpoints (general rules)".
 */
export function listRoute<Item extends object>(options: ListRouteOptions<Item>): KoaMiddleware {
  const endpoint = listEndpoint(options)
  return async function listRoute(ctx, next) {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next()
    sendResponse(ctx, await endpoint(toRequest(ctx, () => null)))
    return undefined
  }
}
