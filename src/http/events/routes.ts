import { type EventsRoute, eventsRoutes } from '../openapi/routes.js'
import { type MatchedRoutes, routeMatcher } from '../route-matcher.js'

export { EVENTS_ACTIONS, type EventsAction, rightOf } from '../openapi/route.js'
export type { EventsRoute } from '../openapi/routes.js'

const match = routeMatcher(eventsRoutes)

/** Matches a path relative to the mount path. A trailing slash after the mount path is ignored. */
export const matchRoutes = (path: string): MatchedRoutes<EventsRoute> =>
  match(path === '/' ? '' : path)
