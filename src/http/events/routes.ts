/** What a user asks of the events endpoints. */
export type EventsAction = 'list' | 'read' | 'create' | 'stream' | 'describe'

/** One of the endpoints; the path is relative to where they are mounted. */
export interface EventsRoute {
  readonly action: EventsAction
  readonly method: 'GET' | 'POST'
  readonly path: '' | '/stream' | '/openapi.json' | '/{id}'
}

/** All endpoints; the first whose path fits is taken. */
export const eventsRoutes: readonly EventsRoute[] = [
  { action: 'list', method: 'GET', path: '' },
  { action: 'create', method: 'POST', path: '' },
  { action: 'stream', method: 'GET', path: '/stream' },
  { action: 'describe', method: 'GET', path: '/openapi.json' },
  { action: 'read', method: 'GET', path: '/{id}' },
]

/** The routes of a path under the mount path, by method, and the id that it names. */
export interface MatchedRoutes {
  readonly byMethod: ReadonlyMap<string, EventsRoute>
  readonly id: string
}

/** Where the mount path ends, its own trailing slash is allowed for. */
export function matchRoutes(path: string): MatchedRoutes {
  const under = path === '/' ? '' : path
  const fitting = eventsRoutes.find((route) => route.path === under)?.path ?? ('/{id}' as const)
  const byMethod = new Map<string, EventsRoute>()
  for (const route of eventsRoutes) {
    if (route.path !== fitting) continue
    byMethod.set(route.method, route)
    if (route.method === 'GET') byMethod.set('HEAD', route)
  }
  return { byMethod, id: fitting === '/{id}' ? under.slice(1) : '' }
}
