import { challenge } from '../basic-auth.js'
import type { HttpRequest, HttpResponse } from '../exchange.js'
import { finalizeResponse } from '../finalize-response.js'
import { type CallHost, respondToErrors } from '../host-calls.js'
import { checkHostFunctions } from '../host-functions.js'
import { declareMount, isUnder } from '../mounts.js'
import { HttpProblem, jsonapi } from '../problem.js'
import { type MatchedRoutes, routeMatcher, routeOf } from '../route-matcher.js'
import { staticDocumentHandler } from '../static-document.js'
import { scopeOf, type SubscriptionsAccess } from './access.js'
import { SUBSCRIPTIONS_ACTIONS, type SubscriptionsAction } from './actions.js'
import { channelHandlers } from './channels.js'
import { type ManagedAudit, type ManagementHandler, reading } from './handler.js'
import { managementDocument } from './openapi.js'
import { managementRoutes, type SubscriptionsRoute } from './routes.js'
import { subscriptionActionHandlers } from './subscription-actions.js'
import { subscriptionHandlers } from './subscriptions.js'

export interface SubscriptionsEndpointOptions<Context> extends SubscriptionsAccess<Context> {
  /**
   * The path above the endpoints: they handle `<path>/subscriptions`, `<path>/notification_channels` and everything under these. It is
   * the full path that clients send, even if the host mounts the handler under a prefix.
   * @default '/api'
   */
  readonly path?: string
  /** Realm of the challenge of a 401 response. @default 'Daybook' */
  readonly realm?: string
}

/** Handles a request to the endpoints; returns `undefined` synchronously for other paths. */
export interface SubscriptionsEndpoint<Context> {
  (request: HttpRequest<Context>): Promise<HttpResponse> | undefined
  /** What it handles: these paths and everything under them. */
  readonly paths: readonly string[]
}

const COLLECTIONS = ['subscriptions', 'notification_channels'] as const

const match = routeMatcher(managementRoutes)

/** A trailing slash after a collection is ignored. */
const matchPath = (path: string): MatchedRoutes<SubscriptionsRoute> =>
  match(path.replace(/^(\/[^/]+)\/$/, '$1'))

function createHandlers(
  audit: ManagedAudit,
  path: string,
): Readonly<Record<SubscriptionsRoute['action'], ManagementHandler>> {
  const { kinds } = audit.subscriptions.channels
  const describe = staticDocumentHandler('application/json', () => managementDocument(path))
  return {
    ...subscriptionHandlers(audit, `${path}/subscriptions`),
    ...subscriptionActionHandlers(audit, `${path}/subscriptions`),
    ...channelHandlers(audit, `${path}/notification_channels`),
    'subscriptions:describe': async (call) => finalizeResponse(call.request, await describe(call)),
    me: reading(async ({ request, username, rights }) => {
      const data = { type: 'user', id: username, attributes: { may: await rights(), kinds } }
      return JSON.stringify({ jsonapi, data, links: { self: request.path } })
    }),
  }
}

/** The endpoints by which users manage subscriptions and channels, independent of the HTTP server. */
export function subscriptionsEndpoint<Context>(
  audit: ManagedAudit,
  options: SubscriptionsEndpointOptions<Context> = {},
): SubscriptionsEndpoint<Context> {
  const { path = '/api', realm = 'Daybook' } = options
  checkHostFunctions(options, 'authorize')
  const handlers = createHandlers(audit, path)
  const unauthenticated = { headers: challenge(realm) }
  const mounts = COLLECTIONS.map((kind) => ({ kind, path: `${path}/${kind}` }))
  for (const mount of mounts) declareMount(audit, mount)
  const paths = mounts.map((mount) => mount.path)

  const handle = async (
    request: HttpRequest<Context>,
    routes: MatchedRoutes<SubscriptionsRoute>,
    callHost: CallHost,
  ): Promise<HttpResponse> => {
    const username = await callHost(() => request.username)
    // Most servers represent a missing header as an empty string, so an empty name means no user.
    if (!username)
      throw new HttpProblem('UNAUTHENTICATED', 'send user name and password', unauthenticated)
    const { action } = routeOf(request, routes)
    const scope = (of: SubscriptionsAction) => scopeOf(options, of, request.context, callHost)
    const granted = action === 'me' ? 'own' : await scope(action)
    if (granted === 'nothing')
      throw new HttpProblem('FORBIDDEN', `${username} is not allowed the action ${action}`)
    return handlers[action]({
      request,
      username,
      id: routes.id,
      seesAll: granted === 'all',
      async rights() {
        const rights: [action: SubscriptionsAction, may: boolean][] = []
        // One after the other, so that the first error of the host is the one that is thrown.
        for (const one of SUBSCRIPTIONS_ACTIONS)
          rights.push([one, (await scope(one)) !== 'nothing'])
        return Object.fromEntries(rights) as Record<SubscriptionsAction, boolean>
      },
    })
  }

  const respond = (request: HttpRequest<Context>): Promise<HttpResponse> | undefined => {
    if (!paths.some((mount) => isUnder(request.path, mount))) return undefined
    const routes = matchPath(request.path.slice(path.length))
    return respondToErrors((callHost) => handle(request, routes, callHost))
  }
  return Object.assign(respond, { paths })
}
