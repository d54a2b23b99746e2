import type { MatchedRoute } from '../../src/http/record/exchange.js'
import type { HonoContext, HonoRoute } from './hono.js'

/** Where Hono keeps a handler that it has wrapped, because its app has an `onError` of its own. */
const COMPOSED_HANDLER = '__COMPOSED_HANDLER'

/** Middleware takes `next`, as in Hono's own `inspectRoutes`. */
export function isMiddleware({ handler }: HonoRoute): boolean {
  const { [COMPOSED_HANDLER]: wrapped = handler } = handler as Record<string, unknown>
  return (wrapped as (...args: unknown[]) => unknown).length > 1
}

const isForAll = ({ path }: HonoRoute): boolean => path === '*' || path === '/*'

/** The parameters of a matching route. */
function paramsAt(req: HonoContext['req'], index: number): object {
  const { routeIndex } = req
  req.routeIndex = index
  try {
    return req.param()
  } finally {
    req.routeIndex = routeIndex
  }
}

/**
 * The route that handled the request, or would have if earlier middleware had not refused it: the first
 * matching route that is not before the one that ran last.
 */
export function handlingRoute({ req }: HonoContext): MatchedRoute | undefined {
  const { matchedRoutes: matched, routeIndex } = req
  const method = req.method === 'HEAD' ? 'GET' : req.method
  const takes = (route: HonoRoute): boolean =>
    route.method === method || (route.method === 'ALL' && !isMiddleware(route) && !isForAll(route))
  const isNext = (route: HonoRoute, i: number): boolean => i >= routeIndex && takes(route)
  const handler = matched.findIndex((route, i) => isNext(route, i) && !isMiddleware(route))
  const next = handler === -1 ? matched.findIndex(isNext) : handler
  const index = next === -1 ? matched.findLastIndex(takes) : next
  const route = matched[index]
  return route && { path: route.path, params: paramsAt(req, index) }
}
