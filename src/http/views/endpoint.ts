import { CHALLENGE_OPTIONS, type ChallengeOptions, readChallenge } from '../challenge.js'
import { checkHostFunctions } from '../host-functions.js'
import { finalizeResponse } from '../finalize-response.js'
import { type ManagementEndpoint, managementEndpoint } from '../managing/endpoint.js'
import { reading } from '../managing/handler.js'
import { jsonapi } from '../problem.js'
import { staticDocumentHandler } from '../static-document.js'
import { createViews } from '../../views/views.js'
import { READING_ACTIONS, type ViewsAction, VIEWS_ACTIONS } from './actions.js'
import { type HandledAction, type ViewedAudit, viewHandlers } from './handlers.js'
import { viewsDocument } from './openapi.js'
import { viewsRoutes } from '../openapi/routes.js'
import { checkOptions, type OptionNames } from '../../options.js'
import { USERNAME_OPTION, type UsernameOption } from '../username-option.js'

export interface ViewsEndpointOptions<Context> extends ChallengeOptions {
  /**
   * The path of the views, with everything under it. It is the full path that clients send, even if the host mounts the handler
   * under a prefix.
   * @default '/api/views'
   */
  readonly path?: string
  /**
   * Returns `true` if the user may do this with the views that the user made, or `'all'` for the views of all users. For any other
   * value the response is 403. With `true` the user lists and reads the shared views of others too. It is called before the
   * request body is read, and for all actions when the user requests `<path>/me`. Errors go to the host's error handling.
   *
   * A view gives no rights: each user sees only the events that the rules of the event feed allow.
   * @default every authenticated user may read; no user may change anything
   */
  authorize?(context: Context, action: ViewsAction): boolean | 'all' | Promise<boolean | 'all'>
}

const ROUTES_OPTIONS: OptionNames<ViewsEndpointOptions<unknown> & UsernameOption<unknown>> = {
  path: true,
  ...CHALLENGE_OPTIONS,
  authorize: true,
  ...USERNAME_OPTION,
}

/** The endpoints of named views, independent of the HTTP server. */
export function viewsEndpoint<Context>(
  audit: ViewedAudit,
  options: ViewsEndpointOptions<Context> = {},
): ManagementEndpoint<Context> {
  checkOptions(options, ROUTES_OPTIONS, 'viewRoutes')
  const { path = '/api/views' } = options
  checkHostFunctions(options, 'authorize')
  const describe = staticDocumentHandler('application/json', () => viewsDocument(path))
  return managementEndpoint<ViewsAction, Context, HandledAction>(audit, {
    path,
    unauthenticated: readChallenge(options),
    mounts: [{ kind: 'views', path }],
    routes: viewsRoutes,
    actions: VIEWS_ACTIONS,
    readingActions: READING_ACTIONS,
    handlers: {
      ...viewHandlers(createViews(audit), path),
      'views:describe': async (call) => finalizeResponse(call.request, await describe(call)),
      me: reading(async ({ request, username, rights }) => {
        const data = { type: 'user', id: username, attributes: { may: await rights() } }
        return JSON.stringify({ jsonapi, data, links: { self: request.path } })
      }),
    },
    authorize: options.authorize && ((...call) => options.authorize!(...call)),
  })
}
