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
   * Where the endpoints are: `<path>` and all that is under it. It is the path that clients send, also
   * where the host mounts this under another path.
   * @default '/api/events'
   */
  readonly path?: string
  /** Realm of the challenge that goes with a 401. @default 'Daybook' */
  readonly realm?: string
}

/** Answers a request to the events endpoints; `undefined`, at once, for a path that is not theirs. */
export type EventsEndpoint<Context> = (
  request: HttpRequest<Context>,
) => Promise<HttpResponse> | undefined

/** Whether a path is the mount path or lies under it. */
export function isUnder(path: string, mount: string): boolean {
  return path === mount || path.startsWith(`${mount}/`)
}

export const DEFAULT_PATH = '/api/events'

/** What an action gives away, where it does. */
const READS: Readonly<Partial<Record<EventsRoute['action'], EventsRead['action']>>> = {
  list: 'list',
  read: 'read',
  stream: 'stream',
  count: 'count',
  export: 'export',
}

/** One after the other, so that the host's first error is the one that is told. */
async function rightsOf(
  may: (action: EventsAction) => Promise<boolean>,
  visible: () => Promise<Grouping | undefined>,
): Promise<UserRights> {
  const allowed = new Set<EventsAction>()
  for (const action of EVENTS_ACTIONS) if (await may(action)) allowed.add(action)
  // A host need have no filter for whom it lets read nothing.
  const reads = EVENTS_ACTIONS.some((action) => READS[action] && allowed.has(action))
  return {
    may: Object.fromEntries(
      EVENTS_ACTIONS.map((action) => [action, allowed.has(action)]),
    ) as UserRights['may'],
    restricted: reads && (await visible()) !== undefined,
  }
}

type ByHost = <Value>(call: () => Value | Promise<Value>) => Promise<Value>

/**
 * The endpoints of the interface's sections "Endpoints" and "Errors", as functions from a request to
 * a response that any HTTP server can mount.
 */
export function eventsEndpoint<Context>(
  audit: EndpointAudit,
  options: EventsEndpointOptions<Context> = {},
): EventsEndpoint<Context> {
  const { path = DEFAULT_PATH, realm = 'Daybook' } = options
  const broadcast = createBroadcast(audit, (event) => eventFrame(event, path))
  const setting = { audit, path }
  const handlers: Readonly<Record<EventsRoute['action'], EventsHandler>> = {
    list: listHandler({ ...setting, broadcast }),
    read: readHandler(setting),
    create: createHandler(setting),
    stream: streamHandler({ ...setting, broadcast }),
    count: countsHandler(setting),
    export: exportHandler(setting),
    types: typesHandler(setting),
    me: meHandler(setting),
    describe: openApiHandler(setting),
  }

  const unauthenticated = { headers: challenge(realm) }

  const handle = async (
    request: HttpRequest<Context>,
    { byMethod, id }: MatchedRoutes,
    byHost: ByHost,
  ): Promise<HttpResponse> => {
    const { context, query } = request
    const username = await byHost(() => request.username)
    // A header that was not sent is empty with most servers: it names nobody.
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
      !options.authorize || (await byHost(() => options.authorize!(context, wanted)))
    const visible = async (): Promise<Grouping | undefined> =>
      options.visible && byHost(async () => parseVisible(await options.visible!(context)))
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
        const given = { action: read, username, query, events: events.map(plainEvent) }
        await byHost(() => options.onRead!(context, given))
      },
    })
    return finalizeResponse(request, response)
  }

  const answer = async (
    request: HttpRequest<Context>,
    routes: MatchedRoutes,
  ): Promise<HttpResponse> => {
    // What a function of the host's throws is not the client's fault, whatever it is.
    let failure: { readonly error: unknown } | undefined
    const byHost: ByHost = async (call) => {
      try {
        return await call()
      } catch (error) {
        failure = { error }
        throw error
      }
    }
    try {
      return await handle(request, routes, byHost)
    } catch (error) {
      if (failure && failure.error === error) throw error
      return errorResponse(error)
    }
  }

  return (request) =>
    isUnder(request.path, path)
      ? answer(request, matchRoutes(request.path.slice(path.length)))
      : undefined
}
