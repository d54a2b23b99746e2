import { listEndpoint, type ListEndpointOptions } from '../../src/http/list-endpoint.js'
import { sendResponse, toRequest } from './exchange.js'
import type { KoaMiddleware, RoutedContext } from './koa.js'

export type ListRouteOptions<Item extends object> = ListEndpointOptions<Item, RoutedContext>

/**
 * Koa middleware, for a route of `GET`, that answers with a list of a host's own resources as JSON:API
 * and gives it the event feed's query language over `id` and the declared attributes:
 * `filter[<attribute>_<predicate>]`, `filter[sorts]`, `limit`. An unknown attribute, and a value that does
 * not read as the attribute's type, are answered 400. Without sorts the list keeps the order of its
 * source; a table's is that of its ids. Every item that a table cannot rule out is looked at; with
 * sorts, or no limit, all that match are read.
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
