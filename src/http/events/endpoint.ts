import type { Grouping } from '../../filter/ast.js'
import { createBroadcast } from '../stream/broadcast.js'
import { plainEvent } from '../../store-kit/lazy-event.js'
import { challenge } from '../basic-auth.js'
import type { HttpRequest, HttpResponse } from '../exchange.js'
import { finalizeResponse } from '../finalize-response.js'
import { errorResponse, HttpProblem } from '../problem.js'
import { parseVisible } from '../visible-filter.js'
import type { EventsAccess, EventsRead, UserRights } from './access.js'
import { countsHandler } from './counts.js'
import { createHandler } from './create.js'
import { exportHandler } from './export.js'
import type { EndpointAudit, EventsHandler } from './handler.js'
import { listHandler } from './list.js'
import { meHandler } from './me.js'
import { openApiHandler } from './openapi.js'
import { readHandler } from './read.js'
import {
  EVENTS_ACTIONS,
  type EventsAction,
  type EventsRoute,
  type MatchedRoutes,
  matchRoutes,
} from './routes.js'
import { eventFrame } from './server-sent.js'
import { streamHandler } from './stream.js'
import { typesHandler } from './types.js'

export interface EventsEndpointOptions<Context> extends EventsAccess<Context> {
  /**
   * The path of the endpoints: they handle `<path>` and everything under it. It is the full path that
   * clients send, even if the host mounts the handler under a prefix.
   * @default '/api/events'
   */
  readonly path?: string
  /** Realm of the challenge of a 401 response. @default 'Daybook' */
  readonly realm?: string
}

/** Handles a request to the events endpoints; returns `undefined` synchronously for other paths. */
export type EventsEndpoint<Context> = (
  request: HttpRequest<Context>,
) => Promise<HttpResponse> | undefined

/** Whether a path is the mount path or under it. */
export function isUnder(path: string, mount: string): boolean {
  return path === mount || path.startsWith(`${mount}/`)
}

export const DEFAULT_PATH = '/api/events'

/** The actions that read events, as `onRead` names them. */
const READS: Readonly<Partial<Record<EventsRoute['action'], EventsRead['action']>>> = {
  list: 'list',
  read: 'read',
  stream: 'stream',
  count: 'count',
  export: 'export',
}

/** Calls `may` sequentially, so that the first error of the host is the one that is thrown. */
async function rightsOf(
  may: (action: EventsAction) => Promise<boolean>,
  visible: () => Promise<Grouping | undefined>,
): Promise<UserRights> {
  const allowed = new Set<EventsAction>()
  for (const action of EVENTS_ACTIONS) if (await may(action)) allowed.add(action)
  // The host need not provide a filter for users who may read nothing.
  const mayRead = EVENTS_ACTIONS.some((action) => READS[action] && allowed.has(action))
  return {
    may: Object.fromEntries(
      EVENTS_ACTIONS.map((action) => [action, allowed.has(action)]),
    ) as UserRights['may'],
    restricted: mayRead && (await visible()) !== undefined,
  }
}

function createHandlers(
  audit: EndpointAudit,
  path: string,
): Readonly<Record<EventsRoute['action'], EventsHandler>> {
  const broadcast = createBroadcast(audit, (event) => eventFrame(event, path))
  const shared = { audit, path }
  return {
    list: listHandler({ ...shared, broadcast }),
    read: readHandler(shared),
    create: createHandler(shared),
    stream: streamHandler({ ...shared, broadcast }),
    count: countsHandler(shared),
    export: exportHandler(shared),
    types: typesHandler(shared),
    me: meHandler(shared),
    describe: openApiHandler(shared),
  }
}

/** Calls a function of the host. */
type CallHost = <Value>(call: () => Value | Promise<Value>) => Promise<Value>

/**
 * The endpoints of the interface's sections "Endpoints" and "Errors", independent of the HTTP server.
 */
export function eventsEndpoint<Context>(
  audit: EndpointAudit,
  options: EventsEndpointOptions<Context> = {},
): EventsEndpoint<Context> {
  const { path = DEFAULT_PATH, realm = 'Daybook' } = options
  const handlers = createHandlers(audit, path)
  const unauthenticated = { headers: challenge(realm) }

  const handle = async (
    request: HttpRequest<Context>,
    { byMethod, id }: MatchedRoutes,
    callHost: CallHost,
  ): Promise<HttpResponse> => {
    const { context, query } = request
    const username = await callHost(() => request.username)
    // Most servers represent a missing header as an empty string, so an empty name means no user.
    if (!username)
      throw new HttpProblem('UNAUTHENTICATED', 'send user name and password', unauthenticated)
    if (byMethod.size === 0)
      throw new HttpProblem('NOT_FOUND', `there is nothing at ${request.path}`)
    const route = byMethod.get(request.method)
    if (!route) {
      const allow = [...byMethod.keys()].join(', ')
      throw new HttpProblem('METHOD_NOT_ALLOWED', `${request.path} takes ${allow}`, {
        headers: { allow },
      })
    }
    const { action } = route
    const may = async (wanted: EventsAction): Promise<boolean> =>
      !options.authorize || (await callHost(() => options.authorize!(context, wanted)))
    const visible = async (): Promise<Grouping | undefined> =>
      options.visible && callHost(async () => parseVisible(await options.visible!(context)))
    if (action !== 'me' && !(await may(action)))
      throw new HttpProblem('FORBIDDEN', `${username} is not allowed the action ${action}`)
    const read = READS[action]
    const response = await handlers[action]({
      request,
      username,
      id,
      visible: read && (await visible()),
      rights: () => rightsOf(may, visible),
      async reportRead(events) {
        if (!read || !options.onRead) return
        const report = { action: read, username, query, events: events.map(plainEvent) }
        await callHost(() => options.onRead!(context, report))
      },
    })
    return finalizeResponse(request, response)
  }

  const respond = async (
    request: HttpRequest<Context>,
    routes: MatchedRoutes,
  ): Promise<HttpResponse> => {
    // An error of a host function is rethrown, even if it looks like one that the client caused.
    let failure: { readonly error: unknown } | undefined
    const callHost: CallHost = async (call) => {
      try {
        return await call()
      } catch (error) {
        failure = { error }
        throw error
      }
    }
    try {
      return await handle(request, routes, callHost)
    } catch (error) {
      if (failure && failure.error === error) throw error
      return errorResponse(error)
    }
  }

  return (request) =>
    isUnder(request.path, path)
      ? respond(request, matchRoutes(request.path.slice(path.length)))
      : undefined
}
