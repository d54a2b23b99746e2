import { requireUser, type Unauthenticated } from '../challenge.js'
import type { HttpRequest, HttpResponse } from '../exchange.js'
import { type CallHost, respondToErrors } from '../host-calls.js'
import { declareMount, isUnder, type Mount } from '../mounts.js'
import { HttpProblem } from '../problem.js'
import { type MatchedRoutes, routeMatcher, routeOf, type RoutePath } from '../route-matcher.js'
import { type AccessRules, scopeOf } from './access.js'
import type { ManagementHandler } from './handler.js'

interface ManagementRoute<Action extends string> extends RoutePath {
  /** `me` is allowed for every authenticated user. */
  readonly action: Action | 'me'
}

/** The endpoints of some collections. `Handled` are the actions that routes have. */
export interface Management<
  Action extends string,
  Context,
  Handled extends Action = Action,
> extends AccessRules<Action, Context> {
  /** The paths of the routes are relative to it. */
  readonly path: string
  /** The collections: these paths and everything under them are handled. */
  readonly mounts: readonly Mount[]
  readonly routes: readonly ManagementRoute<Handled>[]
  readonly actions: readonly Action[]
  readonly handlers: Readonly<Record<Handled | 'me', ManagementHandler<Action>>>
  readonly unauthenticated: Unauthenticated
}

/** Handles a request to the endpoints; returns `undefined` synchronously for other paths. */
export interface ManagementEndpoint<Context> {
  (request: HttpRequest<Context>): Promise<HttpResponse> | undefined
  /** Paths that it handles, with everything under them. */
  readonly paths: readonly string[]
}

/** Authenticates, authorizes and routes the requests of users who manage something of a log. */
export function managementEndpoint<Action extends string, Context, Handled extends Action = Action>(
  audit: object,
  management: Management<Action, Context, Handled>,
): ManagementEndpoint<Context> {
  const { path, mounts, routes, actions, handlers, unauthenticated } = management
  const match = routeMatcher(routes)
  for (const mount of mounts) declareMount(audit, mount)
  const paths = mounts.map((mount) => mount.path)

  /** A trailing slash after a collection is ignored. */
  const matchPath = (whole: string): MatchedRoutes<ManagementRoute<Handled>> =>
    match((paths.find((mount) => whole === `${mount}/`) ?? whole).slice(path.length))

  const handle = async (
    request: HttpRequest<Context>,
    matched: MatchedRoutes<ManagementRoute<Handled>>,
    callHost: CallHost,
  ): Promise<HttpResponse> => {
    const username = requireUser(await callHost(() => request.username), unauthenticated)
    const { action } = routeOf(request, matched)
    const scope = (of: Action) => scopeOf(management, of, request.context, callHost)
    const granted = action === 'me' ? 'own' : await scope(action)
    if (granted === 'nothing')
      throw new HttpProblem('FORBIDDEN', `${username} is not allowed the action ${action}`)
    return handlers[action]({
      request,
      username,
      id: matched.id,
      seesAll: granted === 'all',
      async may(of) {
        return (await scope(of)) !== 'nothing'
      },
      async rights() {
        const rights: [action: Action, may: boolean][] = []
        // One after the other, so that the first error of the host is the one that is thrown.
        for (const one of actions) rights.push([one, (await scope(one)) !== 'nothing'])
        return Object.fromEntries(rights) as Record<Action, boolean>
      },
    })
  }

  const respond = (request: HttpRequest<Context>): Promise<HttpResponse> | undefined => {
    if (!paths.some((mount) => isUnder(request.path, mount))) return undefined
    const matched = matchPath(request.path)
    return respondToErrors((callHost) => handle(request, matched, callHost))
  }
  return Object.assign(respond, { paths })
}
