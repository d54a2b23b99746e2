import { CHALLENGE_OPTIONS, type ChallengeOptions, readChallenge } from '../challenge.js'
import { checkHostFunctions } from '../host-functions.js'
import { finalizeResponse } from '../finalize-response.js'
import { type ManagementEndpoint, managementEndpoint } from '../managing/endpoint.js'
import { type ManagementHandler, reading } from '../managing/handler.js'
import { jsonapi } from '../problem.js'
import { staticDocumentHandler } from '../static-document.js'
import type { SubscriptionsAccess } from './access.js'
import { READING_ACTIONS, SUBSCRIPTIONS_ACTIONS, type SubscriptionsAction } from './actions.js'
import { channelHandlers } from './channels.js'
import type { ManagedAudit } from './managed-audit.js'
import { managementDocument } from './openapi.js'
import { managementRoutes } from '../openapi/routes.js'
import { subscriptionActionHandlers } from './subscription-actions.js'
import { subscriptionHandlers } from './subscriptions.js'
import { checkOptions, type OptionNames } from '../../options.js'
import { USERNAME_OPTION, type UsernameOption } from '../username-option.js'

export interface SubscriptionsEndpointOptions<Context>
  extends SubscriptionsAccess<Context>, ChallengeOptions {
  /**
   * The path above the endpoints: they handle `<path>/subscriptions`, `<path>/notification_channels` and everything under these. It is
   * the full path that clients send, even if the host mounts the handler under a prefix.
   * @default '/api'
   */
  readonly path?: string
}

const ROUTES_OPTIONS: OptionNames<SubscriptionsEndpointOptions<unknown> & UsernameOption<unknown>> =
  {
    path: true,
    ...CHALLENGE_OPTIONS,
    authorize: true,
    ...USERNAME_OPTION,
  }

const COLLECTIONS = ['subscriptions', 'notification_channels'] as const

function createHandlers(
  audit: ManagedAudit,
  path: string,
): Readonly<Record<SubscriptionsAction | 'me', ManagementHandler<SubscriptionsAction>>> {
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
): ManagementEndpoint<Context> {
  checkOptions(options, ROUTES_OPTIONS, 'subscriptionRoutes')
  const { path = '/api' } = options
  checkHostFunctions(options, 'authorize')
  return managementEndpoint<SubscriptionsAction, Context>(audit, {
    path,
    unauthenticated: readChallenge(options),
    mounts: COLLECTIONS.map((kind) => ({ kind, path: `${path}/${kind}` })),
    routes: managementRoutes,
    actions: SUBSCRIPTIONS_ACTIONS,
    readingActions: READING_ACTIONS,
    handlers: createHandlers(audit, path),
    authorize: options.authorize && ((...call) => options.authorize!(...call)),
  })
}
