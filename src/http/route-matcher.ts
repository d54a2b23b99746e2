import type { HttpRequest } from './exchange.js'
import { HttpProblem } from './problem.js'

/** An endpoint: its path may have one segment `{id}`. */
export interface RoutePath {
  readonly method: string
  /** Relative to the mount path. */
  readonly path: string
  /** Why other methods are refused, if there is a reason to say. */
  readonly others?: string
}

/** The routes of a path, by method, and the id in the path. */
export interface MatchedRoutes<Route> {
  /** Empty if the path is unknown. */
  readonly byMethod: ReadonlyMap<string, Route>
  /** Empty if the path has none. */
  readonly id: string
}

const ID = '{id}'

/** Finds the routes of a path relative to the mount path. Paths without an id come first. `GET` also handles `HEAD`. */
export function routeMatcher<Route extends RoutePath>(
  routes: readonly Route[],
): (path: string) => MatchedRoutes<Route> {
  const byPath = new Map<string, Map<string, Route>>()
  for (const route of routes) {
    const byMethod = byPath.get(route.path) ?? new Map<string, Route>()
    byPath.set(route.path, byMethod)
    byMethod.set(route.method, route)
    if (route.method === 'GET') byMethod.set('HEAD', route)
  }
  const withId = [...byPath].filter(([path]) => path.includes(ID))
  const patterns = withId.map(([path, byMethod]) => {
    byPath.delete(path)
    return { pattern: new RegExp(`^${path.replace(ID, '([^/]+)')}$`), byMethod }
  })
  const none: MatchedRoutes<Route> = { byMethod: new Map(), id: '' }
  return (path) => {
    const byMethod = byPath.get(path)
    if (byMethod) return { byMethod, id: '' }
    for (const { pattern, byMethod } of patterns) {
      const match = pattern.exec(path)
      if (match) return { byMethod, id: match[1]! }
    }
    return none
  }
}

/** Throws `NOT_FOUND` and `METHOD_NOT_ALLOWED`. */
export function routeOf<Route extends RoutePath>(
  { method, path }: HttpRequest,
  { byMethod }: MatchedRoutes<Route>,
): Route {
  if (byMethod.size === 0) throw new HttpProblem('NOT_FOUND', `there is nothing at ${path}`)
  const route = byMethod.get(method)
  if (route) return route
  const allow = [...byMethod.keys()].join(', ')
  const others = [...byMethod.values()].find((known) => known.others !== undefined)?.others
  const detail = `${path} takes ${allow}${others === undefined ? '' : `: ${others}`}`
  throw new HttpProblem('METHOD_NOT_ALLOWED', detail, { headers: { allow } })
}
