import type { QueryObject } from '../../src/filter/parse.js'
import { listEndpoint, type ListEndpointOptions } from '../../src/http/list-endpoint.js'
import type { ListSource } from '../../src/lists.js'
import { respond, toRequest } from './exchange.js'
import type { NodeListener, NodeRequest } from './node.js'

type PerRequest<Value> = (request: NodeRequest) => Value | Promise<Value>

export interface ListRouteOptions<Item extends object> extends ListEndpointOptions<Item> {
  /**
   * The items, or a function that gives them for a request: an array, any other iterable, an async
   * one, or a table (`sqliteTable`, `postgresTable`). What it throws goes to `next`. What can be gone
   * through once only, such as a generator, has to be given by a function.
   */
  readonly source: ListSource<Item> | PerRequest<ListSource<Item>>
  /** A filter that holds for the request, whatever it asks: `{ owner_eq: request.username }`. */
  readonly visible?: PerRequest<QueryObject['filter']>
}

/**
 * Answers `GET` with a list of a host's own resources, as `listRoute` of `daybook/koa` does, for a route of
 * Express or Connect: `app.get('/api/projects', listRoute({ … }))`. Other methods go on to `next`.
 *
 * See the interface, "List endpoints (general rules)".
 */
export function listRoute<Item extends object>(options: ListRouteOptions<Item>): NodeListener {
  const { source, visible } = options
  const endpoint = listEndpoint(options)
  return function listRoute(request, response, next) {
    const exchange = { request, response, next }
    respond(exchange, async () => {
      if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
      const items = typeof source === 'function' ? await source(request) : source
      return endpoint(
        toRequest(exchange, () => null),
        items,
        await visible?.(request),
      )
    })
  }
}
