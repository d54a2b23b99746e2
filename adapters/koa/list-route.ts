import type { QueryObject } from '../../src/filter/parse.js'
import { listEndpoint, type ListEndpointOptions } from '../../src/http/list-endpoint.js'
import type { ListSource } from '../../src/lists.js'
import { sendResponse, toRequest } from './exchange.js'
import type { KoaMiddleware, RoutedContext } from './koa.js'

type PerRequest<Value> = (ctx: RoutedContext) => Value | Promise<Value>

export interface ListRouteOptions<Item extends object> extends ListEndpointOptions<Item> {
  /**
   * The items, or a function that gives them for a request: an array, any other iterable, an async
   * one, or a table (`sqliteTable`, `postgresTable`). What it throws goes through to Koa. What can be
   * gone through once only, such as a generator, has to be given by a function.
   */
  readonly source: ListSource<Item> | PerRequest<ListSource<Item>>
  /** A filter that holds for the request, whatever it asks: `{ owner_eq: ctx.state.username }`. */
  readonly visible?: PerRequest<QueryObject['filter']>
}

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
  const { source, visible } = options
  const endpoint = listEndpoint(options)
  return async function listRoute(ctx, next) {
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return next()
    const items = typeof source === 'function' ? await source(ctx) : source
    const request = toRequest(ctx, () => null)
    sendResponse(ctx, await endpoint(request, items, await visible?.(ctx)))
    return undefined
  }
}
