import { listEndpoint, type ListEndpointOptions } from '../../src/http/list-endpoint.js'
import { sendAnswer, toRequest } from './exchange.js'
import type { FastifyHandler, FastifyRequest } from './fastify.js'

export type ListRouteOptions<Item extends object> = ListEndpointOptions<Item, FastifyRequest>

/**
 * A handler of Fastify that serves a list of the host's own resources, as `listRoute` of `daybook/koa` does:
 * `app.get('/api/projects', listRoute({ … }))`.
 *
 * See the interface, "List endpoints (general rules)".
 */
export function listRoute<Item extends object>(options: ListRouteOptions<Item>): FastifyHandler {
  const endpoint = listEndpoint(options)
  return async function listRoute(request, reply) {
    await sendAnswer(request, reply, await endpoint(toRequest(request, reply, () => null)))
    return reply
  }
}
