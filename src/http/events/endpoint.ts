import type { Grouping } from '../../filter/ast.js'
import { parseQuery } from '../../filter/parse.js'
import type { HttpRequest, HttpResponse } from '../exchange.js'
import { finish } from '../finish.js'
import { errorResponse, HttpProblem } from '../problem.js'
import type { EventsAccess, EventsRead } from './access.js'
import { createHandler } from './create.js'
import type { EndpointAudit, EventsHandler } from './handler.js'
import { listHandler } from './list.js'
import { openApiHandler } from './openapi.js'
import { readHandler } from './read.js'
import { type EventsAction, type MatchedRoutes, matchRoutes } from './routes.js'
import { streamHandler } from './stream.js'

export interface EventsEndpointOptions<Context> extends EventsAccess<Context> {
  /** Where the endpoints are: `<path>` and all that is under it. @default '/api/events' */
  readonly path?: string
  /** Realm of the challenge that goes with a 401. @default 'Daybook' */
  readonly realm?: string
}

/** Answers a request to the events endpoints; `undefined`, at once, for a path that is not theirs. */
export type EventsEndpoint<Context> = (
  request: HttpRequest<Context>,
) => Promise<HttpResponse> | undefined

export const challenge = (realm: string): Record<string, string> => ({
  'www-authenticate': `Basic realm="${realm.replaceAll(/["\\]/g, '\\$&')}", charset="UTF-8"`,
})

/** Whether a path is the mount path or lies under it. */
export function isUnder(path: string, mount: string): boolean {
  return path === mount || path.startsWith(`${mount}/`)
}

export const DEFAULT_PATH = '/api/events'

/** What an action gives away, where it does. */
const READS: Readonly<Partial<Record<EventsAction, EventsRead['action']>>> = {
  list: 'list',
  read: 'read',
  stream: 'stream',
}

/** What a function of the host's has thrown: not the client's fault, whatever it is. */
class HostFailure extends Error {}

async function byHost<Value>(call: () => Value | Promise<Value>): Promise<Value> {
  try {
    return await call()
  } catch (cause) {
    throw new HostFailure('a function of the host has thrown', { cause })
  }
}

/**
 * The endpoints of the interface's sections "Endpoints" and "Errors", as functions from a request to
 * a response that any HTTP server can mount.
 */
export function eventsEndpoint<Context>(
  audit: EndpointAudit,
  options: EventsEndpointOptions<Context> = {},
): EventsEndpoint<Context> {
  const { path = DEFAULT_PATH, realm = 'Daybook' } = options
  const setting = { audit, path }
  const handlers: Readonly<Record<EventsAction, EventsHandler>> = {
    list: listHandler(setting),
    read: readHandler(setting),
    create: createHandler(setting),
    stream: streamHandler(setting),
    describe: openApiHandler(setting),
  }

  const visibleTo = async (context: Context): Promise<Grouping | undefined> => {
    const filter = await options.visible?.(context)
    return filter && parseQuery({ filter }).where
  }

  const handle = async (
    request: HttpRequest<Context>,
    { byMethod, id }: MatchedRoutes,
  ): Promise<HttpResponse> => {
    const { username, context } = request
    if (username === null)
      throw new HttpProblem('UNAUTHENTICATED', 'send user name and password', {
        headers: challenge(realm),
      })
    const route = byMethod.get(request.method)
    if (!route) {
      const allow = [...byMethod.keys()].join(', ')
      throw new HttpProblem('METHOD_NOT_ALLOWED', `${request.path} takes ${allow}`, {
        headers: { allow },
      })
    }
    const { action } = route
    if (!(await byHost(() => options.authorize?.(context, action) ?? true)))
      throw new HttpProblem('FORBIDDEN', `${username} may not ${action} events`)
    const read = READS[action]
    const visible = read && (await byHost(() => visibleTo(context)))
    const response = await handlers[action]({
      request,
      username,
      id,
      visible,
      async disclose(events) {
        if (!read) return
        const { query } = request
        await byHost(() => options.onRead?.(context, { action: read, username, query, events }))
      },
    })
    return finish(request, response)
  }

  const answer = async (
    request: HttpRequest<Context>,
    routes: MatchedRoutes,
  ): Promise<HttpResponse> => {
    try {
      return await handle(request, routes)
    } catch (error) {
      if (error instanceof HostFailure) throw error.cause
      return errorResponse(error)
    }
  }

  return (request) =>
    isUnder(request.path, path)
      ? answer(request, matchRoutes(request.path.slice(path.length)))
      : undefined
}
